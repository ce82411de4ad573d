package managedfields

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// TypeError is an object that does not conform to the type of its kind.
type TypeError struct {
	Operation merge.Operation
	Role      string // of the object in the write: live, new or patch
	Object    string // namespace/name; group/version, Kind=kind
	Err       error  // [typed.Errors]
}

// Error returns what is wrong, in the words of kube-apiserver.
func (e *TypeError) Error() string {
	if e.Operation == merge.Apply {
		return fmt.Sprintf("failed to create typed %s object (%s): %v", e.Role, e.Object, e.Err)
	}
	return fmt.Sprintf("failed to convert %s object (%s) to smd typed: %v", e.Role, e.Object, e.Err)
}

// Unwrap returns the places that do not conform.
func (e *TypeError) Unwrap() error { return e.Err }

// The roles of objects in a write.
const (
	rolePatch = "patch"
	roleLive  = "live"
	roleNew   = "new"
)

// describe names an object as messages do.
func describe(v value.Value) string {
	metadata := v.Get("metadata")
	return fmt.Sprintf("%s/%s; %v", metadata.Get("namespace").Str(), metadata.Get("name").Str(), gvkOf(v))
}

// typed returns v, converted to the endpoint's version, as a value of the kind's type.
func (w *write) typed(role string, v value.Value, opts ...typed.Option) (typed.Value, error) {
	return w.revised(role, w.lately(v, typed.Empty(w.typ)), v, opts...)
}

// lately returns the object v as it was last written, which v may share parts with, or else what there is instead.
func (w *write) lately(v value.Value, instead typed.Value) typed.Value {
	if len(w.recent) > 0 {
		name := nameOf(v)
		if recent := w.recent.get(name[0], name[1]); recent != nil {
			return *recent
		}
	}
	return instead
}

// revised is typed for an object that is expected to share parts with known, a value of the kind's type.
func (w *write) revised(role string, known typed.Value, v value.Value, opts ...typed.Option) (typed.Value, error) {
	v, err := w.versioned(role, v)
	if err != nil {
		return typed.Value{}, err
	}
	out, err := known.Revise(v, opts...)
	if err != nil {
		return typed.Value{}, &TypeError{Operation: w.operation, Role: role, Object: describe(v), Err: err}
	}
	return out, nil
}

// mergeConfig lets the engine plan the apply. Stored objects may hold list items twice, configurations may not.
//
//	S7  Nobody comes to own what identifies an object, nor the bookkeeping in its metadata: name, uid, generation,
//	    resourceVersion and the like.
//	S13  What an endpoint resets is merged like the rest, but not owned and not in conflict; the caller restores it.
func (w *write) mergeConfig() error {
	content, err := w.versioned(roleLive, w.liveData())
	if err != nil {
		return err
	}
	config, err := w.typed(rolePatch, w.object.data())
	if err != nil {
		return err
	}
	live, err := w.revised(roleLive, w.lately(content, config), content, typed.AllowDuplicates)
	if err != nil {
		return err
	}
	w.plan, err = w.engine.Apply(merge.Request{
		Live: live, Object: config, Managers: w.before, Manager: w.manager, APIVersion: w.apiVersion,
		Adapted: w.entries.adapted,
	})
	return err
}

// currentOperation owns what an update changes while the update goes on, apart from the updater's former entry. No entry can have
// this identity.
var currentOperation = merge.Manager{Name: "current-operation"}

// mergeUpdate lets the engine compute the update, and gives the outcome to the updater, with the current time, see S8:
//
//	S9  The updater's former entry loses fields as anybody's does. What it keeps and what the updater changed become one
//	    entry.
//
// An update that changes nothing that is owned, see S7, leaves the entry as it is.
func (w *write) mergeUpdate() error {
	object, err := w.typed(roleNew, w.object.Content, typed.AllowDuplicates)
	if err != nil {
		return err
	}
	live, err := w.revised(roleLive, object, w.liveData(), typed.AllowDuplicates)
	if err != nil {
		return err
	}
	result, err := w.engine.Update(merge.Request{
		Live: live, Object: object, Managers: w.before, Manager: currentOperation, APIVersion: w.apiVersion,
		Former: w.manager, Adapted: w.entries.adapted,
	})
	if err != nil {
		return fmt.Errorf("failed to update ManagedFields (%s): %w", describe(object.Content()), err)
	}
	managers := result.Managers
	if changed, ok := managers.Get(currentOperation); ok {
		// The engine spared the former entry what was changed, for it gets that back; but not what S7 is about.
		former, _ := managers.Get(w.manager)
		former.Fields = former.Fields.Minus(changed.Fields.Intersect(systemFields))
		if fields := changed.Fields.Minus(systemFields); !fields.IsEmpty() {
			former = merge.Entry{Manager: w.manager, Fields: former.Fields.Union(fields), APIVersion: w.apiVersion, Time: w.now()}
		}
		managers = replace(managers, currentOperation, former)
	}
	w.managers, w.stored, w.changed, w.outcome = managers, object, result.Changed, w.object.Content
	return nil
}

// replace returns managers without m and with the entry e, or without its manager if that owns nothing.
func replace(managers merge.Managers, m merge.Manager, e merge.Entry) merge.Managers {
	if e.Fields.IsEmpty() {
		return managers.Without(m).Without(e.Manager)
	}
	return managers.Replace(m, e)
}

// SystemFields returns the fields that nobody comes to own, because they are identity or bookkeeping of the server: apiVersion,
// kind, metadata as such, and metadata.name, namespace, uid, resourceVersion, generation, creationTimestamp, managedFields and
// the like.
func SystemFields() fieldpath.Set { return systemFields }

var systemFields = func() fieldpath.Set {
	paths := []fieldpath.Path{
		{fieldpath.Field("apiVersion")}, {fieldpath.Field("kind")}, {fieldpath.Field("metadata")},
	}
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
		"resourceVersion",
	} {
		paths = append(paths, fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field(name)})
	}
	return fieldpath.SetOf(paths...)
}()
