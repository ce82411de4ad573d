package write

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// mutate lets admission change an object that is to be stored in place of live, or as a new one.
//
// Its managed fields are those that admission leaves; if they cannot be read, those from before, with a warning. Nobody becomes the
// manager of what admission changes.
func (w *write) mutate(live read.Live, object managedfields.Object) (managedfields.Object, error) {
	q := w.admitted(live.Object, object)
	q.Scope.(*scope).unread = func() bool { return w.unread(object, q.Pass()) }
	if err := w.Admission.Mutate(w.Context(), q); err != nil {
		return object, err
	}
	mutated, err := admittedFields(q.Object)
	if nothing := q.Object.Content().Get("metadata", "managedFields"); nothing.IsNull() && w.Version.Custom {
		mutated.Content = api.WithMetadata(mutated.Content, "managedFields", nothing) // which is shown until the object is stored
	}
	if err != nil {
		w.Warnings.Add(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated " +
			"mutating admission controller; please fix your requests: " + err.Error())
		mutated.Content = api.WithMetadata(q.Object.Content(), "managedFields", value.Value{})
		mutated.Entries = object.Entries
	}
	var uids []string
	if mutated.Content, uids = api.UniqueOwners(mutated.Content); len(uids) > 0 {
		w.Warnings.Add(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server "+
			"dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "+
			"duplicate UID(s) observed: %s", strings.Join(uids, ", ")))
	}
	return mutated, nil
}

// admittedFields returns an object as admission left it. The error is that its managed fields cannot be read, in the words of
// kube-apiserver's library.
func admittedFields(o admission.Object) (managedfields.Object, error) {
	object, err := o.Split()
	if err == nil && o.Replaced() {
		_, err = managedfields.Decode(object.Entries)
	}
	if err == nil {
		return object, nil
	}
	var entries []metav1.ManagedFieldsEntry
	if text := o.Content().Get("metadata", "managedFields").AppendJSON(nil); json.Unmarshal(text, &entries) == nil {
		if said := library.ValidateManagedFields(entries); said != nil {
			err = said
		}
	}
	return object, err
}

// admit asks admission whether object may be stored in place of live, or as a new one.
func (w *write) admit(live, object managedfields.Object) error {
	if len(w.Admission) == 0 {
		return nil
	}
	return w.Admission.Validate(w.Context(), w.admitted(live, object))
}

// admitChange asks admission whether object may be stored in place of live. At the subresource scale it is told of Scales.
func (w *write) admitChange(live read.Live, object managedfields.Object) error {
	if w.Target.Subresource != "scale" || len(w.Admission) == 0 {
		return w.admit(live.Object, object)
	}
	was, err := w.scaleOf(live.Object)
	if err != nil {
		return err
	}
	is, err := w.scaleOf(object)
	if err != nil {
		return err
	}
	return w.admit(was, is)
}

// scaleOf returns the Scale of an object, without managed fields.
func (w *write) scaleOf(object managedfields.Object) (managedfields.Object, error) {
	content, _, err := w.Version.Scale.Of(object.Content)
	return managedfields.Object{Content: content}, err
}

// admitDelete asks admission whether live may be deleted. Nothing can be changed there, but plugins that would are asked as well.
func (w *write) admitDelete(live read.Live) error {
	if w.unasked {
		return nil
	}
	q := w.admitted(live.Object, managedfields.Object{})
	if err := w.Admission.Mutate(w.Context(), q); err != nil {
		return err
	}
	return w.Admission.Validate(w.Context(), q)
}

// admitted returns what admission is told of a write. An absent live is an object that does not exist yet, an absent object one
// that is deleted.
func (w *write) admitted(live, object managedfields.Object) *admission.Request {
	q := &admission.Request{
		Operation: admission.Update, Endpoint: w.endpoint(w.Version), Subresource: w.Target.Subresource,
		Namespace: w.Target.Namespace, Name: w.ObjectName, DryRun: w.dryRun, Warn: w.Warnings.Add,
		Object: admission.ObjectOf(object), Old: admission.ObjectOf(live), Annotate: w.Annotate,
	}
	switch {
	case w.connection() != nil:
		q.Operation = admission.Connect
	case object.Content.IsAbsent():
		q.Operation = admission.Delete
	case live.Content.IsAbsent():
		q.Operation = admission.Create
	}
	if w.User != nil {
		q.User = w.User(w.Context())
	}
	if w.unnamed {
		q.Name = ""
	}
	if w.isNamespace() && !w.named {
		q.Namespace = q.Name // a namespace is in itself
	}
	q.Scope = &scope{write: w, operation: q.Operation}
	return q
}

func (r *Request) isNamespace() bool {
	return r.Version.Group == "" && r.Version.Plural == "namespaces"
}

// endpoint returns where the request writes, if it were made to another version.
func (r *Request) endpoint(v *catalog.Version) admission.Endpoint {
	gvk := v.GVK()
	if action := v.Actions[r.Target.Subresource]; action != nil {
		gvk = action.GVK()
	} else if r.Target.Subresource == "scale" {
		gvk = catalog.ScaleKind
	}
	return admission.Endpoint{
		Resource: kschema.GroupVersionResource{Group: v.Group, Version: v.Name, Resource: v.Plural},
		Kind:     kschema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
	}
}

// unread reports whether an object is not yet what its text reads as; see admission.Scope. For built-in kinds, that is when the
// request wrote managed fields: what is stored has no fractions of seconds.
func (w *write) unread(object managedfields.Object, pass int) bool {
	if w.Version.Custom {
		return w.Target.Subresource == "scale"
	}
	return pass == 0 && slices.ContainsFunc(object.Entries, func(e managedfields.Entry) bool { return e.Time.Nanosecond() != 0 })
}
