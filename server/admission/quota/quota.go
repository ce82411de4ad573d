// Package quota enforces ResourceQuotas. The [Plugin] refuses what would exceed a quota, and adds what it admits to the usage in the status of
// the quota. The [Controller] puts the bounds of a quota into its status, and counts anew when objects go.
package quota

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/plugins"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Plugin is the plugin ResourceQuota. Its exported fields are set before use.
type Plugin struct {
	Store  store.Store
	Client *loopback.Client
	Now    func() time.Time
	// Limited are the resources that objects may use only if a quota covers them. See [Read].
	Limited []Limited

	locks sync.Map // of *sync.Mutex by namespace: requests of this server do not race for the usage of a quota
}

// quotasPrefix is the prefix of the keys of ResourceQuotas.
const quotasPrefix = "/registry/resourcequotas/"

// maxAttempts is how often a usage is written that another server changes meanwhile.
const maxAttempts = 4

// stored is a ResourceQuota.
type stored struct {
	value.Value
	name     string
	revision store.Revision
}

// quotasOf returns the quotas of a namespace.
func quotasOf(ctx context.Context, s store.Store, namespace string) ([]stored, error) {
	page, err := s.Range(ctx, store.Range{Prefix: quotasPrefix + namespace + "/"})
	if err != nil {
		return nil, err
	}
	var out []stored
	for _, record := range page.Records {
		object, err := managedfields.ParseObject(record.Text)
		if err != nil {
			return nil, err
		}
		out = append(out, stored{object.Content, object.Content.Get("metadata", "name").Str(), record.Revision})
	}
	return out, nil
}

// Validate refuses a write that exceeds a quota, and counts it otherwise. A dry run is not counted.
//
// A usage that another server changed meanwhile is checked again, alone: the other quotas have counted the write already.
func (p *Plugin) Validate(ctx context.Context, r *admission.Request) error {
	of := r.Resource.GroupResource()
	if r.Namespace == "" || !isCounted(r) {
		return nil
	}
	quotas, err := quotasOf(ctx, p.Store, r.Namespace)
	if err != nil || len(quotas) == 0 && len(p.Limited) == 0 {
		return err
	}
	lock, _ := p.locks.LoadOrStore(r.Namespace, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	b, err := besides(ctx, p.Store, p.Now(), of, r.Namespace)
	if err != nil {
		return err
	}
	var pending []string // names of quotas that are to be checked again; nil for all
	for attempt := range maxAttempts {
		if quotas, err = quotasOf(ctx, p.Store, r.Namespace); err != nil {
			return err
		}
		if attempt > 0 {
			quotas = slices.DeleteFunc(quotas, func(q stored) bool { return !slices.Contains(pending, q.name) })
		}
		usages, err := p.check(r, of, quotas, b)
		if err != nil || r.DryRun {
			return err
		}
		if pending, err = p.write(ctx, r.Namespace, quotas, usages); len(pending) == 0 || !apierrors.IsConflict(err) {
			return err
		}
	}
	return apierrors.NewConflict(kschema.GroupResource{Resource: "resourcequotas"}, pending[0], errors.New("the usage changes too often"))
}

// isCounted reports whether a write may change what its namespace uses.
func isCounted(r *admission.Request) bool {
	of, isNew := r.Resource.GroupResource(), r.Operation == admission.Create
	isUpdate := r.Operation == admission.Update
	switch {
	case of.Resource == "events" && (of.Group == "" || of.Group == "events.k8s.io"), of.Resource == "bindings" && of.Group == "",
		of.Resource == "namespaces" && of.Group == "", of.Group == "authorization.k8s.io":
		return false
	case of == pods && r.Subresource == "resize":
		return isUpdate
	case of == claims && r.Subresource == "status":
		return isUpdate
	case r.Subresource != "":
		return false
	case of == pods && isUpdate:
		return isBrief(r.Object.Content().Get("spec")) != isBrief(r.Old.Content().Get("spec"))
	case of == claims || of == services || of == deviceClaims:
		return isNew || isUpdate
	}
	return isNew
}

// besides returns what the usage of the objects of a resource in a namespace depends on.
func besides(ctx context.Context, s store.Store, now time.Time, of kschema.GroupResource, namespace string) (beside, error) {
	b := beside{now: now}
	if of != deviceClaims {
		return b, nil
	}
	all := sync.OnceValues(func() (owners, error) { return ownersIn(ctx, s, namespace) }) // most claims were made for no pod
	b.podOf = func(claim value.Value) (plugins.Amounts, error) {
		owner := ownerOf(claim)
		if owner.IsAbsent() {
			return nil, nil
		}
		of, err := all()
		if err != nil {
			return nil, err
		}
		return of.usage(owner, claim, now)
	}
	var err error
	b.classes, err = deviceClassesOf(ctx, s)
	return b, err
}

// check returns the usage of each quota with the write, nil for those that it does not change. The error is a 403, or that of the store.
func (p *Plugin) check(r *admission.Request, of kschema.GroupResource, quotas []stored, b beside) ([]plugins.Amounts, error) {
	object := r.Object.Content()
	used, err := usageOf(of, object, b)
	if err != nil {
		return nil, err
	}
	forbid := func(format string, args ...any) error {
		return apierrors.NewForbidden(of, r.ObjectName(), fmt.Errorf(format, args...))
	}
	var bounding []int
	bounded := sets.Set[string]{}
	for i, q := range quotas {
		hard, has := plugins.Quantities(q.Get("status", "hard")), plugins.Quantities(q.Get("status", "used"))
		names := slices.DeleteFunc(hard.Names(), func(name string) bool { return !bounds(name, of, b.classes) })
		if len(names) == 0 || !matches(q.Value, of, object) {
			continue
		}
		if missing := unsaid(of, object, names); missing != "" {
			return nil, forbid("failed quota: %s: must specify %s", q.name, missing)
		}
		if slices.ContainsFunc(names, func(name string) bool { _, known := has[name]; return !known }) {
			return nil, forbid("status unknown for quota: %s, resources: %s", q.name, strings.Join(names, ","))
		}
		bounding = append(bounding, i)
		bounded.Insert(names...)
	}
	if len(p.Limited) > 0 {
		grows, err := changesUsage(r, of, used, quotas, bounding, b)
		if err != nil || !grows {
			return make([]plugins.Amounts, len(quotas)), err
		}
		switch names, scopes := uncovered(p.Limited, of, object, used, quotas, bounded); {
		case len(names) > 0:
			return nil, forbid("insufficient quota to consume: %s", strings.Join(names, ","))
		case len(scopes) > 0:
			return nil, fmt.Errorf("insufficient quota to match these scopes: %v", scopes)
		}
	}
	usages := make([]plugins.Amounts, len(quotas))
	for _, i := range bounding {
		q, delta := quotas[i], used
		if r.Operation == admission.Update && matches(q.Value, of, r.Old.Content()) {
			before, err := usageOf(of, r.Old.Content(), b)
			if err != nil {
				return nil, err
			}
			delta = used.Less(before)
		}
		hard, has := plugins.Quantities(q.Get("status", "hard")), plugins.Quantities(q.Get("status", "used"))
		delta = delta.Only(func(name string) bool {
			amount := delta[name]
			_, bounded := hard[name]
			return bounded && !amount.IsZero()
		})
		if len(delta) == 0 {
			continue
		}
		sum := plugins.Amounts{}
		sum.Add(has)
		sum.Add(delta)
		exceeded := func(name string) bool {
			_, grows := delta[name]
			most := hard[name]
			is := sum[name]
			return grows && is.Cmp(most) > 0
		}
		if over := delta.Only(exceeded); len(over) > 0 && r.Subresource != "status" {
			return nil, forbid("exceeded quota: %s, requested: %s, used: %s, limited: %s", q.name, printed(over), printed(has.Only(exceeded)), printed(hard.Only(exceeded)))
		}
		usages[i] = sum
	}
	return usages, nil
}

// unsaid returns what the containers of a pod must say for names of a quota: each name with the containers that do not say it. It is empty if
// nothing is missing, or if the pod says it as a whole.
func unsaid(of kschema.GroupResource, pod value.Value, names []string) string {
	spec := pod.Get("spec")
	if of != pods || spec.Get("resources", "requests").Len()+spec.Get("resources", "limits").Len() > 0 {
		return ""
	}
	var parts []string
	for _, name := range names {
		if !slices.Contains([]string{"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"}, name) {
			continue
		}
		var containers []string
		for c := range plugins.Containers(spec) {
			if _, says := podUsage(plugins.UsageOf(c.Get("resources")))[name]; !says {
				containers = append(containers, c.Get("name").Str())
			}
		}
		if slices.Sort(containers); len(containers) > 0 {
			parts = append(parts, name+" for: "+strings.Join(slices.Compact(containers), ","))
		}
	}
	return strings.Join(parts, "; ")
}

// write stores usages. It returns the names of the quotas whose usage was not stored, and the last error.
func (p *Plugin) write(ctx context.Context, namespace string, quotas []stored, usages []plugins.Amounts) (failed []string, last error) {
	for i, q := range quotas {
		if usages[i] == nil {
			continue
		}
		if err := writeStatus(ctx, p.Client, namespace, q, plugins.Quantities(q.Get("status", "hard")), usages[i]); err != nil {
			failed, last = append(failed, q.name), err
		}
	}
	return failed, last
}

// writeStatus replaces the status of a quota, unless the quota has changed.
func writeStatus(ctx context.Context, client *loopback.Client, namespace string, q stored, hard, used plugins.Amounts) error {
	text := func(a plugins.Amounts, was value.Value) value.Value {
		out := a.Value()
		for name := range was.Members() {
			if _, stays := a[name]; !stays {
				out = out.With(name, value.Null())
			}
		}
		return out
	}
	patch := value.Object(
		value.Member{Name: "metadata", Value: value.Object(
			value.Member{Name: "resourceVersion", Value: value.String(strconv.FormatInt(int64(q.revision), 10))})},
		value.Member{Name: "status", Value: value.Object(
			value.Member{Name: "hard", Value: text(hard, q.Get("status", "hard"))},
			value.Member{Name: "used", Value: text(used, q.Get("status", "used"))})},
	)
	path := "/api/v1/namespaces/" + namespace + "/resourcequotas/" + q.name + "/status"
	return loopback.IgnoreNotFound(client.Send(ctx, http.MethodPatch, path, patch))
}
