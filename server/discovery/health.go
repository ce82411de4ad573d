package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/store"
)

// Health answers the health checks.
type Health struct {
	Store   store.Store
	Checker store.Checker // nil if the store does not know whether it keeps writes
	Ended   func() error  // returns an error once the server ends
	Log     logs.Logger
	Minor   int // the minor release of Kubernetes that the server emulates
	// Fair tells that the server has priority and fairness, whose checks have names of their own.
	Fair bool
	RBAC bool // the server began with roles and bindings
	// Observe is called with the outcome of each check that is not excluded when all checks of a path run.
	Observe func(name, path string, healthy bool)

	stored func() error // the outcome of storage, for checks
}

// check is a condition under which the server is healthy.
type check struct {
	name  string
	paths string // that the check is one of
	run   func(Health) error
}

const (
	everywhere = "healthz livez readyz"
	live       = "healthz livez"
	ready      = "readyz"
)

// storageTimeout is how long the store may take to answer a check, so that the check is answered within two seconds.
const storageTimeout = 1500 * time.Millisecond

// checks returns the checks of a server, in the order of kube-apiserver.
func (h Health) checks() []check {
	return slices.DeleteFunc(slices.Clone(allChecks), func(c check) bool {
		has := conditions[strings.TrimPrefix(c.name, hookPrefix)]
		return has != nil && !has(h)
	})
}

// conditions say which servers have a check. Every server has the others.
var conditions = map[string]func(Health) bool{
	"max-in-flight-filter":                  func(h Health) bool { return !h.Fair },
	"priority-and-fairness-config-consumer": func(h Health) bool { return h.Fair },
	"priority-and-fairness-filter":          func(h Health) bool { return h.Fair },
	"rbac/bootstrap-roles":                  func(h Health) bool { return h.RBAC },
	"peer-endpoint-reconciler-controller":   func(h Health) bool { return h.Minor >= 36 },
	"storage-readiness":                     func(h Health) bool { return h.Minor >= 36 },
}

// allChecks are the checks of kube-apiserver, in its order.
var allChecks = slices.Concat(
	[]check{
		{"ping", everywhere, Health.started},
		{"log", everywhere, Health.started},
		{"loopback-serving-certificate", live, Health.started},
		{"etcd", everywhere, isStored},
		{"etcd-readiness", ready, isStored},
		{"informer-sync", ready, Health.started},
	},
	hooks("start-apiserver-admission-initializer", "generic-apiserver-start-informers", "max-in-flight-filter",
		"priority-and-fairness-config-consumer", "priority-and-fairness-filter", "storage-object-count-tracker-hook",
		"start-apiextensions-informers", "start-apiextensions-controllers", "crd-informer-synced",
		"start-system-namespaces-controller", "peer-endpoint-reconciler-controller", "start-cluster-authentication-info-controller",
		"start-kube-apiserver-identity-lease-controller", "start-kube-apiserver-identity-lease-garbage-collector", "storage-readiness",
		"start-legacy-token-tracking-controller", "start-service-ip-repair-controllers", "rbac/bootstrap-roles",
		"scheduling/bootstrap-system-priority-classes", "priority-and-fairness-config-producer", "bootstrap-controller",
		"start-kubernetes-service-cidr-controller", "start-kube-aggregator-informers", "apiservice-status-local-available-controller",
		"apiservice-status-remote-available-controller", "apiservice-registration-controller", "apiservice-discovery-controller",
		"kube-apiserver-autoregistration"),
	[]check{{"autoregister-completion", everywhere, Health.started}},
	hooks("apiservice-openapi-controller", "apiservice-openapiv3-controller"),
	[]check{{"shutdown", ready, func(h Health) error { return h.Ended() }}},
)

// hookPrefix begins the names of checks of what kube-apiserver starts before it is ready.
const hookPrefix = "poststarthook/"

// hooks returns the checks of what kube-apiserver starts before it is ready. This server answers once it has started everything.
func hooks(names ...string) []check {
	out := make([]check, 0, len(names))
	for _, name := range names {
		out = append(out, check{hookPrefix + name, everywhere, Health.started})
	}
	return out
}

// paths returns the paths of the health checks.
func (h Health) paths() []string {
	var out []string
	for root := range strings.FieldsSeq(everywhere) {
		out = append(out, "/"+root)
		for _, c := range h.checks() {
			if strings.Contains(c.paths, root) {
				out = append(out, "/"+root+"/"+c.name)
			}
		}
	}
	return out
}

// started returns nil: a server that answers has started.
func (Health) started() error { return nil }

func isStored(h Health) error { return h.stored() }

// storage returns an error unless the store answers and keeps writes.
func (h Health) storage(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	_, err := h.Store.Range(ctx, store.Range{Prefix: "/registry/namespaces/", Limit: 1})
	if err == nil && h.Checker != nil {
		err = h.Checker.Check()
	}
	return err
}

// serve answers a health check: all checks of root, or the one called name.
func (h Health) serve(w http.ResponseWriter, r *http.Request, root, name string, one bool) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	h.stored = sync.OnceValue(func() error { return h.storage(r.Context()) }) // it may take long, and several checks ask
	if !one {
		h.serveAll(w, r, root)
		return
	}
	for _, c := range h.checks() {
		if c.name != name || !strings.Contains(c.paths, root) {
			continue
		}
		if err := c.run(h); err != nil {
			h.report(c, err)
			if isLate(r) {
				response.TimedOut(w)
				return
			}
			http.Error(w, "internal server error: reason withheld", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "ok")
		return
	}
	response.NotFound(w)
}

// isLate reports whether the time of a request is over. A check that fails then says nothing of the server.
func isLate(r *http.Request) bool { return errors.Is(r.Context().Err(), context.DeadlineExceeded) }

// serveAll answers with ok, or with 500 and the checks that fail.
func (h Health) serveAll(w http.ResponseWriter, r *http.Request, root string) {
	excluded, failed := r.URL.Query()["exclude"], false
	var report strings.Builder
	for _, c := range h.checks() {
		if !strings.Contains(c.paths, root) {
			continue
		}
		if slices.Contains(excluded, c.name) {
			excluded = slices.DeleteFunc(excluded, func(name string) bool { return name == c.name })
			fmt.Fprintf(&report, "[+]%s excluded: ok\n", c.name)
			continue
		}
		err := c.run(h)
		h.Observe(c.name, root, err == nil)
		if err != nil {
			failed = true
			h.report(c, err)
			fmt.Fprintf(&report, "[-]%s failed: reason withheld\n", c.name)
			continue
		}
		fmt.Fprintf(&report, "[+]%s ok\n", c.name)
	}
	if len(excluded) > 0 {
		fmt.Fprintf(&report, "warn: some health checks cannot be excluded: no matches for %s\n", quoted(excluded))
	}
	if failed && isLate(r) {
		response.TimedOut(w)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case failed:
		http.Error(w, report.String()+root+" check failed", http.StatusInternalServerError)
	case r.URL.Query().Has("verbose"):
		fmt.Fprintf(w, "%s%s check passed\n", report.String(), root)
	default:
		fmt.Fprint(w, "ok")
	}
}

// quoted returns names in quotes, sorted and without duplicates.
func quoted(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(names, ",")
}

func (h Health) report(c check, err error) {
	h.Log.Error("a health check fails", logs.Name("check", c.name), logs.Fault(err))
}
