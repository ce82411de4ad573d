package write

import (
	"encoding/json"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// Where a write meets admission. Mutating plugins get the object before it is prepared and validated, and may change it. Validating plugins
// get the object as it would be stored, and may only refuse it. A delete has no object, and both kinds of plugins see the one that goes.

// Mutate lets admission change an object that is to be stored in place of live, or as a new one. A definition that is being deleted refuses
// new objects here, so that no plugin sees them.
//
// The managed fields are those that admission leaves. If these cannot be decoded, the former ones stay, with a warning. No manager owns what
// admission changes.
//
// If no plugin replaced the object, its managed fields were never joined with it, and taking it apart costs nothing. Owner references are
// made unique once more, because a plugin may have repeated some.
func (t *Task) Mutate(live *read.Live, object managedfields.Object) (managedfields.Object, error) {
	q := t.Request
	asked := t.admitted(live.Object, object)
	if asked.Operation == admission.Create && q.Version.Terminating {
		return object, errors.NewForbidden(q.Version.GroupResource(), asked.Name,
			stderrors.New("create not allowed while custom resource definition is terminating"))
	}
	// A function, because whether an object is unread depends on the pass.
	asked.Scope.(*scope).unread = func() bool { return isUnread(q, object, asked.Pass()) }
	if err := t.mutate(asked); err != nil {
		return object, err
	}
	mutated, err := admittedFields(asked.Object)
	if nothing := asked.Object.Content().Get("metadata", "managedFields"); nothing.IsNull() && q.Version.Custom {
		mutated.Content = api.WithMetadata(mutated.Content, "managedFields", nothing) // responses show the null until the object is stored
	}
	if err != nil {
		q.Warnings.Add(".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated " +
			"mutating admission controller; please fix your requests: " + err.Error())
		mutated.Content = api.WithMetadata(asked.Object.Content(), "managedFields", value.Value{})
		mutated.Entries = object.Entries
	}
	var uids []string
	if mutated.Content, uids = fields.UniqueOwners(mutated.Content); len(uids) > 0 {
		q.Warnings.Add(fmt.Sprintf(".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server "+
			"dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "+
			"duplicate UID(s) observed: %s", strings.Join(uids, ", ")))
	}
	return mutated, nil
}

// admittedFields returns an object as admission left it. The error says that its managed fields cannot be decoded, in the words of
// kube-apiserver's library.
//
// Entries are decoded only if a plugin replaced the object. The library is asked only for the text of an error.
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

// Admit asks admission whether object may be stored in place of live, or as a new one.
//
// It is exported for subresources that do not store by Task.Run. Without plugins it costs nothing.
func (t *Task) Admit(live, object managedfields.Object) error {
	if len(t.Writer.Admission) == 0 {
		return nil
	}
	return t.validate(t.admitted(live, object))
}

// mutate calls the mutating plugins.
func (t *Task) mutate(asked *admission.Request) error {
	since := time.Now()
	err := t.Writer.Admission.Mutate(t.Request.Context(), asked)
	t.Writer.observe(admission.Step{Type: "admit", Operation: asked.Operation, Rejected: err != nil}, since)
	return err
}

// validate calls the validating plugins.
func (t *Task) validate(asked *admission.Request) error {
	since := time.Now()
	err := t.Writer.Admission.Validate(t.Request.Context(), asked)
	t.Writer.observe(admission.Step{Type: "validate", Operation: asked.Operation, Rejected: err != nil}, since)
	return err
}

// observe tells w.Observe of a step.
func (w *Writer) observe(s admission.Step, since time.Time) {
	if w.Observe != nil {
		w.Observe(s, time.Since(since))
	}
}

// admitChange asks admission whether object may be stored in place of live. At the subresource scale it shows admission the Scales.
func (t *Task) admitChange(live *read.Live, object managedfields.Object) error {
	if !t.Request.IsScale() || len(t.Writer.Admission) == 0 {
		return t.Admit(live.Object, object)
	}
	was, err := scaleOf(t.Request.Version, live.Object)
	if err != nil {
		return err
	}
	is, err := scaleOf(t.Request.Version, object)
	if err != nil {
		return err
	}
	return t.Admit(was, is)
}

// scaleOf returns the Scale of an object, without managed fields.
func scaleOf(v *catalog.Version, object managedfields.Object) (managedfields.Object, error) {
	content, _, err := v.Scale.Of(object.Content)
	return managedfields.Object{Content: content}, err
}

// admitDelete asks admission whether live may be deleted. Nothing can be changed there, but mutating plugins are asked as well.
//
// An eviction sets Unasked, because admission decided about the eviction itself.
func (t *Task) admitDelete(live *read.Live) error {
	if t.Unasked {
		return nil
	}
	asked := t.admitted(live.Object, managedfields.Object{})
	if err := t.mutate(asked); err != nil {
		return err
	}
	return t.validate(asked)
}

// admitted returns a write as admission sees it. An absent live is an object that does not exist yet, an absent object one that is deleted.
//
// The operation follows from what is there, with one exception: a subresource that connects, such as exec, is a CONNECT whatever its verb.
// In deletions of collections the name is empty, as the request names none.
func (t *Task) admitted(live, object managedfields.Object) *admission.Request {
	q := t.Request
	asked := &admission.Request{
		Operation: admission.Update, Endpoint: endpoint(q, q.Version), Subresource: q.Target.Subresource,
		Namespace: q.Target.Namespace, Name: q.ObjectName, User: t.Writer.Host.User(q.Context()), DryRun: t.DryRun,
		Object: admission.ObjectOf(object), Old: admission.ObjectOf(live), Warn: q.Warnings.Add, Annotate: q.Annotate,
	}
	switch {
	case q.Version.Connects(q.Target.Subresource) != nil:
		asked.Operation = admission.Connect
	case object.Content.IsAbsent():
		asked.Operation = admission.Delete
	case live.Content.IsAbsent():
		asked.Operation = admission.Create
	}
	switch {
	case t.unnamed:
		asked.Name = ""
	case t.asked != "" && asked.Operation == admission.Create: // whatever mutating admission made of it
		asked.Name = t.asked
	}
	if q.Version.GroupResource() == namespaces && !t.named {
		asked.Namespace = asked.Name // a namespace is in itself
	}
	asked.Scope = &scope{task: t, operation: asked.Operation}
	return asked
}

var namespaces = kschema.GroupResource{Resource: "namespaces"}

// isUnread reports whether an object differs from what its text decodes to; see admission.Scope. Objects of built-in kinds differ if the
// request wrote managed fields: their times have fractions of seconds, which the text does not have.
//
// The second pass begins with an object that was decoded from a text, whose times have whole seconds.
func isUnread(q *rest.Request, object managedfields.Object, pass int) bool {
	if q.Version.Custom {
		return q.IsScale()
	}
	return pass == 0 && slices.ContainsFunc(object.Entries, func(e managedfields.Entry) bool { return e.Time.Nanosecond() != 0 })
}
