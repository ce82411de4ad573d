package aggregation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// The server registers its own group versions. A label says how it keeps an APIService:
//
//	onstart   a built-in group version: created or corrected once, when the server starts
//	true      of definitions: created, corrected and deleted as definitions come and go
//
// An APIService without the label is left alone.

const (
	managedLabel = "kube-aggregator.kubernetes.io/automanaged"
	onStart      = "onstart"
	always       = "true"
)

// path is the path of APIServices.
const path = "/apis/" + Group + "/v1/" + Plural

// registerBuiltIn creates the APIServices of built-in group versions, and corrects those that an earlier release left.
func (a *Aggregator) registerBuiltIn(ctx context.Context) error {
	wanted := map[string]kschema.GroupVersion{} // by key
	prefix := a.resource().Prefix
	for _, gv := range a.Catalog().BuiltIn() {
		if catalog.PriorityOf(gv.Group, gv.Version).Version == 0 {
			continue // that of APIServices themselves
		}
		key := prefix + nameOf(gv)
		wanted[key] = gv
		if a.table.of[key] != nil {
			continue
		}
		if err := a.put(ctx, gv, onStart); err != nil {
			return err
		}
	}
	for key, s := range a.table.of {
		if s.managed != onStart || s.text != nil {
			continue
		}
		gv, is := wanted[key]
		if err := a.correct(ctx, s, gv, is); err != nil {
			return err
		}
	}
	return a.read(ctx)
}

// put creates an APIService as [preparedText], which costs much less than the request that creates it. It is for the first registration, for which
// no webhook is called. Another server may have created the APIService.
func (a *Aggregator) put(ctx context.Context, gv kschema.GroupVersion, managed string) error {
	priority := priorityOf(gv, managed)
	at := a.Now()
	if managed == onStart {
		at = a.begin
	}
	text := []byte(preparedText(gv, managed, priority, api.Timestamp(at), string(uuid.NewUUID())))
	key := a.resource().Prefix + nameOf(gv)
	revision, err := a.Store.Put(ctx, key, text, 0)
	if errors.Is(err, store.ErrConflict) {
		return a.read(ctx)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.table.add(key, &service{
		name: nameOf(gv), gv: gv, groupPriority: int64(priority.Group), versionPriority: int64(priority.Version), managed: managed,
		text: text, revision: revision, isLocal: true,
	})
	return nil
}

// priorityOf returns the priority of a group version that the server has.
func priorityOf(gv kschema.GroupVersion, managed string) catalog.Priority {
	if managed == always {
		return catalog.CustomPriority
	}
	return catalog.PriorityOf(gv.Group, gv.Version)
}

// preparedText returns what the server stores when it creates an APIService.
func preparedText(gv kschema.GroupVersion, managed string, priority catalog.Priority, at, uid string) string {
	group, ownsGroup := "", ""
	if gv.Group != "" {
		group, ownsGroup = `"group":`+strconv.Quote(gv.Group)+",", `"f:group":{},`
	}
	of := strconv.Quote(at)
	return `{"apiVersion":"` + Group + `/v1","kind":"APIService","metadata":{"creationTimestamp":` + of +
		`,"labels":{"` + managedLabel + `":"` + managed + `"},"managedFields":[{"apiVersion":"` + Group +
		`/v1","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:` + managedLabel + `":{}}},"f:spec":{` + ownsGroup +
		`"f:groupPriorityMinimum":{},"f:version":{},"f:versionPriority":{}}},"manager":"kube-apiserver","operation":"Update","time":` + of +
		`}],"name":"` + nameOf(gv) + `","uid":"` + uid + `"},"spec":{` + group + `"groupPriorityMinimum":` + fmt.Sprint(priority.Group) +
		`,"version":"` + gv.Version + `","versionPriority":` + fmt.Sprint(priority.Version) + `},"status":{"conditions":[{"lastTransitionTime":` +
		of + `,"message":"` + localMessage + `","reason":"` + localReason + `","status":"True","type":"Available"}]}}`
}

// register brings the APIService of a group version in line with the definitions.
//
//	stored           defined   what happens
//	-                x         it is created
//	true             x         its spec is corrected
//	true             -         it is deleted
//	other, or -      -         nothing
func (a *Aggregator) register(ctx context.Context, gv kschema.GroupVersion) error {
	defined := a.Definitions.Defines(gv)
	a.mu.Lock()
	s := a.table.named(a.resource().Prefix, gv)
	a.mu.Unlock()
	switch {
	case s == nil && defined && !a.started.Load():
		return a.put(ctx, gv, always)
	case s == nil && defined:
		err := a.Client.Send(ctx, http.MethodPost, path, registered(gv, always))
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	case s == nil || s.managed != always:
		return nil
	case !defined:
		// Another server may have registered what this one does not know yet.
		if err := a.Definitions.Serve(ctx); err != nil {
			return err
		}
		defined = a.Definitions.Defines(gv)
	}
	return a.correct(ctx, s, gv, defined)
}

// correct gives an APIService the spec that it should have, or deletes it if it is not wanted.
func (a *Aggregator) correct(ctx context.Context, s *service, gv kschema.GroupVersion, wanted bool) error {
	var err error
	if !wanted {
		text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
		err = a.Client.Send(ctx, http.MethodDelete, path+"/"+s.name, value.Object(text("kind", "DeleteOptions"), text("apiVersion", "v1"),
			value.Member{Name: "preconditions", Value: value.Object(text("uid", api.Meta(s.object(), "uid")))}))
	} else if spec := registered(gv, s.managed).Get("spec"); !s.object().Get("spec").Equal(spec) {
		object := api.WithMetadata(s.object().With("spec", spec), "resourceVersion", value.String(fmt.Sprint(s.revision)))
		err = a.Client.Send(ctx, http.MethodPut, path+"/"+s.name, object)
	}
	if apierrors.IsConflict(err) {
		return nil // the write that came first has it looked at again
	}
	return loopback.IgnoreNotFound(err)
}

// registered returns the APIService of a group version that the server has. managed is the value of its label.
func registered(gv kschema.GroupVersion, managed string) value.Value {
	text := func(name, s string) value.Member { return value.Member{Name: name, Value: value.String(s)} }
	number := func(name string, n int32) value.Member { return value.Member{Name: name, Value: value.Int(int64(n))} }
	object := func(name string, members ...value.Member) value.Member {
		return value.Member{Name: name, Value: value.Object(members...)}
	}
	priority := priorityOf(gv, managed)
	spec := value.Object(text("version", gv.Version), number("groupPriorityMinimum", priority.Group), number("versionPriority", priority.Version))
	if gv.Group != "" {
		spec = spec.With("group", value.String(gv.Group))
	}
	return value.Object(text("apiVersion", Group+"/v1"), text("kind", "APIService"),
		object("metadata", text("name", nameOf(gv)), object("labels", text(managedLabel, managed))), value.Member{Name: "spec", Value: spec})
}
