package managedfields

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Step Merge: the values of the write are checked against the type of the kind. The engine of
// package merge then computes the write.

// TypeError reports an object that does not conform to the type of its kind.
type TypeError struct {
	Operation merge.Operation
	Role      string // of the object in the write: live, new, patch or defaulted
	Object    string // namespace/name; group/version, Kind=kind
	Err       error  // [typed.Errors]
}

// Error returns the defect, in the words of kube-apiserver.
func (e *TypeError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Operation == merge.Apply {
		return fmt.Sprintf("failed to create typed %s object (%s): %v", e.Role, e.Object, e.Err)
	}
	return fmt.Sprintf("failed to convert %s object (%s) to smd typed: %v", e.Role, e.Object, e.Err)
}

// Unwrap returns the [typed.Errors], which name the places that do not conform.
func (e *TypeError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// The roles of objects in a write.
const (
	rolePatch = "patch"
	roleLive  = "live"
	roleNew   = "new"
)

// describe names an object for messages.
func describe(v value.Value) string {
	metadata := v.Get("metadata")
	return fmt.Sprintf("%s/%s; %v", metadata.Get("namespace").Str(), metadata.Get("name").Str(), gvkOf(v))
}

// mergeConfig lets the engine plan the apply. Stored objects may hold a list item twice;
// configurations must not.
//
//	S7  No manager comes to own the fields that identify an object, nor the bookkeeping in its
//	    metadata: name, uid, generation, resourceVersion and the like.
//	S13  Fields that an endpoint resets are merged like others, but not owned and not in
//	     conflict; the caller restores them.
func (r *request) mergeConfig(owners owned) (*merge.Plan, error) {
	content, err := r.versioned(roleLive, r.liveData(owners))
	if err != nil {
		return nil, err
	}
	config, err := r.conforming(rolePatch, r.known(typing.Empty(r.typ)), r.object.data())
	if err != nil {
		return nil, err
	}
	live, err := r.conforming(roleLive, r.known(config), content, typed.AllowDuplicates)
	if err != nil {
		return nil, err
	}
	write := merge.Request{Live: live, Object: config, Managers: owners.managers, Manager: r.manager, APIVersion: r.apiVersion}
	if owners.adapted {
		merging.Adapted(&write)
	}
	return r.applying.Apply(write)
}

// currentOperation owns the changes of an update while the update runs. They stay apart from the
// updater's former entry. No entry can have this identity.
var currentOperation = merge.Manager{Name: "current-operation"}

// mergeUpdate lets the engine compute the update. It gives the changes to the updater, with the
// current time, see S8:
//
//	S9  The updater's former entry loses fields like any other entry. The fields that it keeps
//	    and the fields that the updater changed become one entry.
//
// An update that changes no field that can be owned, see S7, leaves the entry as it is.
func (r *request) mergeUpdate(owners owned) (outcome, error) {
	object, err := r.conforming(roleNew, r.known(typing.Empty(r.typ)), r.object.Content, typed.AllowDuplicates)
	if err != nil {
		return outcome{}, err
	}
	live, err := r.conforming(roleLive, object, r.liveData(owners), typed.AllowDuplicates)
	if err != nil {
		return outcome{}, err
	}
	write := merge.Request{Live: live, Object: object, Managers: owners.managers, Manager: currentOperation, APIVersion: r.apiVersion}
	if owners.adapted {
		merging.Adapted(&write)
	}
	merging.Former(&write, r.manager)
	result, err := r.updating.Update(write)
	if err != nil {
		return outcome{}, fmt.Errorf("failed to update ManagedFields (%s): %w", describe(object.Content()), err)
	}
	managers := r.united(result.Managers)
	return outcome{content: r.object.Content, managers: managers, changed: result.Changed, checked: object}, nil
}

// united gives the fields of currentOperation to the updater, as S9 demands.
func (r *request) united(managers merge.Managers) merge.Managers {
	changed, ok := managers.Get(currentOperation)
	if !ok {
		return managers
	}
	former, _ := managers.Get(r.manager)
	return merging.Replace(managers, currentOperation, merge.Entry{
		Manager: r.manager, Fields: former.Fields.Union(changed.Fields), APIVersion: r.apiVersion, Time: r.now(),
	})
}

// maxSystemDepth is the length of the longest path in systemFields.
const maxSystemDepth = 2

// systemFields are the fields that no manager comes to own, because they identify the object or
// belong to the server's bookkeeping. They are apiVersion, kind, metadata itself, and the metadata
// fields listed below.
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
