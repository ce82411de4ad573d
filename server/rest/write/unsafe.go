package write

import (
	stderrors "errors"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// A delete with the option ignoreStoreReadErrorWithClusterBreakingPotential removes an object that is stored and cannot be read. Finalizers
// and preconditions do not count, and admission is not asked: nothing is known of such an object.

// unsafeSince is the minor release since which the option has an effect.
const unsafeSince = 37

// unsafeVerb is the verb that a user needs for the option.
const unsafeVerb = "unsafe-delete-ignore-read-errors"

// isUnsafe reports whether options ask for the removal of an unreadable object.
func isUnsafe(o *metav1.DeleteOptions) bool {
	unsafe := o.IgnoreStoreReadErrorWithClusterBreakingPotential
	return unsafe != nil && *unsafe
}

// refuseUnsafeCollection refuses the option for a collection, with 422.
func refuseUnsafeCollection(o *metav1.DeleteOptions) error {
	if !isUnsafe(o) {
		return nil
	}
	path := field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential")
	return errors.NewInvalid(kschema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{
		field.Invalid(path, true, "is not allowed with DELETECOLLECTION, try again after removing the option"),
	})
}

// deleteUnreadable removes the object of a request, which cannot be read. An object that can be read is a 409.
//
// kube-apiserver has no such delete for namespaces and for the kinds of RBAC: their storage wraps the general one.
func (w *Writer) deleteUnreadable(q *rest.Request, options *metav1.DeleteOptions) (*rest.Answer, error) {
	if of := q.Version.GroupResource(); of.Group == "rbac.authorization.k8s.io" || of == (kschema.GroupResource{Resource: "namespaces"}) {
		return nil, errors.NewInternalError(fmt.Errorf("no unsafe deleter provided, can not honor ignoreStoreReadErrorWithClusterBreakingPotential"))
	}
	if allowed, reason := w.Host.Allows(q, unsafeVerb); !allowed {
		return nil, errors.NewForbidden(q.Version.GroupResource(), q.ObjectName, fmt.Errorf("not permitted to do %q, reason: %s", unsafeVerb, reason))
	}
	if err := Retry(q.Context(), func() error { return w.deleteUnreadableOnce(q, len(options.DryRun) > 0) }); err != nil {
		return nil, err
	}
	return rest.NewDocument(http.StatusOK, value.Object(
		text("apiVersion", "v1"), value.Member{Name: "code", Value: value.Int(http.StatusOK)},
		value.Member{Name: "details", Value: value.Object(text("kind", q.Version.Kind), text("name", q.ObjectName))},
		text("kind", "Status"), value.Member{Name: "metadata", Value: value.Object()}, text("status", "Success"),
	)), nil
}

// deleteUnreadableOnce removes the record of a request, or looks only whether it could in a dry run. It removes the revision that it has found
// unreadable and no other: store.ErrConflict says that another write was faster.
func (w *Writer) deleteUnreadableOnce(q *rest.Request, dryRun bool) error {
	if err := q.CheckKey(); err != nil {
		return err
	}
	record, err := w.Reader.Store.Get(q.Context(), q.Key(), 0)
	if stderrors.Is(err, store.ErrNotFound) {
		return q.NotFound()
	}
	if err != nil {
		return err
	}
	view := w.Reader.View(q.Version)
	if _, err := view.Shown(record); err == nil {
		return errors.NewConflict(q.Version.GroupResource(), q.ObjectName, fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, "+
			"ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage", q.Key()))
	}
	if dryRun {
		return nil
	}
	if _, err := w.Reader.Store.Delete(q.Context(), record.Key, record.Revision); stderrors.Is(err, store.ErrNotFound) {
		return q.NotFound()
	} else if err != nil {
		return err
	}
	view.Replaced(record.Revision)
	view.Removed(record.Key)
	w.Host.Stored(q.Context(), q, WasRemoved)
	return nil
}
