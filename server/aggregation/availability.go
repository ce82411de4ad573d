package aggregation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/controllers/queue"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// What the condition of a local APIService says.
const (
	localReason  = "Local"
	localMessage = "Local APIServices are always available"
)

const (
	// checkInterval is the time between checks of a remote API server.
	checkInterval = 30 * time.Second
	// checkTimeout is how long a remote API server may take to answer a check.
	checkTimeout = 5 * time.Second
)

// Prefixes of keys.
const (
	servicePrefix = "/registry/services/specs/"
	slicePrefix   = "/registry/endpointslices/"
)

// errUnavailable has an APIService checked again, and is no failure of the server.
var errUnavailable = errors.New("the remote API server is not available")

// watch keeps the condition Available of APIServices until ctx ends: they are checked when they, their services or EndpointSlices change, and
// from time to time.
func (a *Aggregator) watch(ctx context.Context) {
	c := queue.Controller[kschema.GroupVersion]{
		Name: "APIServices are not checked", Store: a.Store, Work: a.check, Interval: checkInterval, All: a.unsettled,
		Report: func(what string, err error) {
			if !errors.Is(err, errUnavailable) {
				a.Report(what, err)
			}
		},
		Sources: []queue.Source[kschema.GroupVersion]{
			{Prefix: a.resource().Prefix, Items: func(e store.Event) []kschema.GroupVersion {
				name := strings.TrimPrefix(e.Key, a.resource().Prefix)
				version, group, _ := strings.Cut(name, ".")
				return []kschema.GroupVersion{{Group: group, Version: version}}
			}},
			{Prefix: servicePrefix, Items: func(e store.Event) []kschema.GroupVersion {
				namespace, name, _ := strings.Cut(strings.TrimPrefix(e.Key, servicePrefix), "/")
				return a.behind(namespace, name)
			}},
			{Prefix: slicePrefix, Items: func(e store.Event) []kschema.GroupVersion {
				namespace, _, _ := strings.Cut(strings.TrimPrefix(e.Key, slicePrefix), "/")
				return a.behind(namespace, serviceOf(e))
			}},
		},
	}
	c.Run(ctx)
}

// serviceOf returns the service of the EndpointSlice of an event.
func serviceOf(e store.Event) string {
	text := e.Text
	if e.Deleted {
		text = e.Previous
	}
	slice, err := managedfields.ParseObject(text)
	if err != nil {
		return ""
	}
	return slice.Content.Get("metadata", "labels").Get("kubernetes.io/service-name").Str()
}

// behind returns the versions that a service serves.
func (a *Aggregator) behind(namespace, name string) (out []kschema.GroupVersion) {
	if remotes := a.remotes.Load(); remotes != nil {
		for gv, s := range *remotes {
			if s.remote.namespace == namespace && s.remote.name == name {
				out = append(out, gv)
			}
		}
	}
	return out
}

// unsettled returns the versions that are to be checked from time to time.
func (a *Aggregator) unsettled() (out []kschema.GroupVersion) {
	if remotes := a.remotes.Load(); remotes != nil {
		for gv := range *remotes {
			out = append(out, gv)
		}
	}
	return out
}

// check brings the condition of an APIService in line, and reads what its server says of its resources. The error of a remote API server that
// cannot be reached is errUnavailable.
func (a *Aggregator) check(ctx context.Context, gv kschema.GroupVersion) error {
	if err := a.read(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	s := a.table.named(a.resource().Prefix, gv)
	a.mu.Unlock()
	switch {
	case s == nil:
		return nil
	case s.remote == nil:
		return a.report(ctx, s, "True", localReason, localMessage)
	}
	reason, message, answered, err := a.reachable(ctx, s)
	if err != nil {
		return err
	}
	status := "True"
	if reason != "Passed" {
		status = "False"
	}
	if (status == "True") != s.isAvailable() {
		s.remote.expire()
	}
	switch {
	case status == "True":
		err = s.remote.refresh(ctx, a.Now())
	case answered:
		// Aggregated discovery does not depend on the check. A version whose resources cannot be read, either, is stale.
		_ = s.remote.refreshResources(ctx, a.Now())
	default:
		s.remote.forget()
	}
	a.changes.Add(1)
	if err := errors.Join(err, a.report(ctx, s, status, reason, message)); err != nil {
		return err
	}
	if reason == "FailedDiscoveryCheck" {
		return errUnavailable
	}
	return nil
}

// reachable returns why an APIService is available or not, and whether its server answered. A service with a fixed address needs no object.
func (a *Aggregator) reachable(ctx context.Context, s *service) (reason, message string, answered bool, err error) {
	of := s.remote.backend
	named := fmt.Sprintf("service/%s in %q", of.name, of.namespace)
	if !a.Resolver.IsFixed(of.namespace, of.name) {
		object, err := registry.Object(ctx, a.Store, servicePrefix+of.namespace+"/"+of.name)
		if err != nil {
			return "", "", false, err
		}
		if object.IsAbsent() {
			return "ServiceNotFound", named + " is not present", false, nil
		}
		if object.Get("spec", "type").Str() == "ClusterIP" {
			if reason, message, err := a.hasEndpoints(ctx, of, object, named); reason != "" || err != nil {
				return reason, message, false, err
			}
		}
	}
	if s.remote.err != nil {
		s.remote.forget()
		return "", "", false, errUnavailable // the condition stays as it is, and requests get the reason
	}
	if answered, err := s.remote.ping(ctx, s.gv); err != nil {
		return "FailedDiscoveryCheck", err.Error(), answered, nil
	}
	return "Passed", "all checks passed", true, nil
}

// hasEndpoints returns why a service has no endpoint at its port; an empty reason if it has one. named is how a message calls the service.
func (a *Aggregator) hasEndpoints(ctx context.Context, of backend, object value.Value, named string) (reason, message string, err error) {
	port, found := "", false
	for p := range object.Get("spec", "ports").Items() {
		if p.Get("port").Int() == int64(of.port) {
			port, found = p.Get("name").Str(), true
			break
		}
	}
	if !found {
		return "ServicePortError", fmt.Sprintf("%s is not listening on port %d", named, of.port), nil
	}
	all, err := registry.Objects(ctx, a.Store, a.Catalog().Lookup("discovery.k8s.io", "endpointslices"))
	if err != nil {
		return "", "", err
	}
	any, ready := false, false
	for _, slice := range all {
		if api.Meta(slice, "namespace") != of.namespace || slice.Get("metadata", "labels").Get("kubernetes.io/service-name").Str() != of.name {
			continue
		}
		any = true
		ready = ready || isReady(slice, port)
	}
	switch {
	case !any:
		return "EndpointsNotFound", "cannot find endpointslices for " + named, nil
	case !ready:
		return "MissingEndpoints", fmt.Sprintf("endpointslices for %s have no addresses with port name %q", named, port), nil
	}
	return "", "", nil
}

// isReady reports whether an EndpointSlice has a ready endpoint and a port with a name.
func isReady(slice value.Value, port string) bool {
	endpoint := false
	for e := range slice.Get("endpoints").Items() {
		ready := e.Get("conditions", "ready")
		endpoint = endpoint || ready.IsAbsent() || ready.IsNull() || ready.Bool()
	}
	for p := range slice.Get("ports").Items() {
		if name := p.Get("name"); endpoint && !name.IsAbsent() && !name.IsNull() && name.Str() == port && !p.Get("port").IsAbsent() {
			return true
		}
	}
	return false
}

// report writes the condition Available of an APIService, unless it says the same already. The time is that of the last change of its status.
func (a *Aggregator) report(ctx context.Context, s *service, status, reason, message string) error {
	if reason == localReason && s.isLocal {
		return nil
	}
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	condition := value.Object(text("type", "Available"), text("status", status), text("lastTransitionTime", api.Timestamp(a.Now())),
		text("reason", reason), text("message", message))
	if s.available.Get("status").Str() == status {
		condition = condition.With("lastTransitionTime", s.available.Get("lastTransitionTime"))
	}
	if s.available.Equal(condition) {
		return nil
	}
	if status != "True" && s.isAvailable() {
		a.Lost(s.name, reason)
	}
	var conditions []value.Value
	replaced := false
	for c := range s.object().Get("status", "conditions").Items() {
		if c.Get("type").Str() == "Available" && !replaced {
			c, replaced = condition, true
		}
		conditions = append(conditions, c)
	}
	if !replaced {
		conditions = append(conditions, condition)
	}
	object := s.object().With("status", s.object().Get("status").With("conditions", value.List(conditions...)))
	object = api.WithMetadata(object, "resourceVersion", value.String(fmt.Sprint(s.revision)))
	return loopback.IgnoreNotFound(a.Client.Send(ctx, http.MethodPut, path+"/"+s.name+"/status", object))
}
