package write

import (
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// Validation has two layers. Package api checks metadata, by rules that all kinds share, and the form of the kind checks the rest. For a
// custom resource, that includes the schema and the CEL rules of its definition, which may run long. A form may return early when the
// context ends, without a meaningful result. So each caller looks at the context before it looks at the errors.

// verdict is the result of validation for an object that may be stored.
//
// The next write of the object uses it: parts that did not change need no validation, as far as proof covers them.
type verdict struct {
	faultless bool // nothing was found wrong with the whole object, and no warning was given
	proof     catalog.Evidence
}

// validateNew validates a new object. The error is a 422 with all faults, or the reason why the request ended meanwhile.
//
// Metadata is checked only if the kind finds no fault: kube-apiserver's create stops at the faults of the strategy.
func (w *Writer) validateNew(q *rest.Request, object managedfields.Object) (verdict, error) {
	content := withEmpties(q, object, value.Value{})
	var errs field.ErrorList
	var valid verdict
	if form, ok := q.Version.Form.(catalog.IncrementalForm); ok {
		errs, valid.proof = form.ValidateChange(q.Context(), content, value.Value{}, "", q.Warnings, catalog.Evidence{})
	} else {
		errs = q.Version.Form.ValidateCreate(q.Context(), content, q.Warnings)
	}
	if err := q.Context().Err(); err != nil {
		return valid, err
	}
	errs, err := w.permit(q, content, value.Value{}, errs)
	if err != nil {
		return valid, err
	}
	if len(errs) == 0 {
		errs = api.ValidateNew(content, q.Version.Namespaced)
	}
	if len(errs) > 0 {
		return valid, invalid(q.Version, content, errs)
	}
	valid.faultless = q.Warnings.Empty()
	warnOfFinalizers(q, content, value.Value{})
	return valid, nil
}

// validate validates an object in place of the stored one. The error is a 422 with all faults, or the reason why the request ended
// meanwhile. An object that stays as it is, and was faultless when it was written, is not validated again.
//
// Unlike a create, an update reports the faults of metadata and of the kind together, metadata first.
func (w *Writer) validate(q *rest.Request, object managedfields.Object, stored *read.Live) (verdict, error) {
	content, live, whole := object.Content, stored.Content, q.Target.Subresource == ""
	// Controllers often repeat their writes. An update that changes nothing needs no validation, unless rules compare the object with the
	// old one, as CEL transition rules do.
	if whole && stored.Faultless && q.Version.Form.IgnoresOld() && content.Equal(live) {
		return verdict{faultless: true, proof: stored.Evidence}, nil
	}
	content = withEmpties(q, object, live)
	errs := api.ValidateReplaced(content, live, q.Version.Namespaced)
	found, proof := validateChange(q, content, stored)
	if err := q.Context().Err(); err != nil {
		return verdict{}, err
	}
	found, err := w.permit(q, content, live, found)
	if err != nil {
		return verdict{}, err
	}
	errs = append(errs, found...)
	valid := verdict{faultless: whole && q.Warnings.Empty(), proof: proof}
	if len(errs) > 0 {
		return valid, invalid(q.Version, content, withFields(errs, object))
	}
	if whole {
		warnOfFinalizers(q, content, live)
	}
	return valid, nil
}

// permit returns the faults that a kind finds, with those of missing permissions: see [Writer].Permit.
func (w *Writer) permit(q *rest.Request, object, live value.Value, found field.ErrorList) (field.ErrorList, error) {
	if w.Permit == nil {
		return found, nil
	}
	return w.Permit(q, object, live, found)
}

// withEmpties returns the content of an object that replaces live as kube-apiserver validates it, with the empty lists and maps that the
// client sent.
func withEmpties(q *rest.Request, object managedfields.Object, live value.Value) value.Value {
	form, ok := q.Version.Form.(catalog.HoldingForm)
	sent := fields.Sent(object)
	if !ok || sent.IsAbsent() {
		return object.Content
	}
	return form.WithEmpties(object.Content, sent, live, q.Target.Subresource)
}

// validateChange returns the faults that the kind finds in content in place of live, and the evidence of the validation.
func validateChange(q *rest.Request, content value.Value, live *read.Live) (field.ErrorList, catalog.Evidence) {
	form, ok := q.Version.Form.(catalog.IncrementalForm)
	if !ok {
		return q.Version.Form.ValidateUpdate(q.Context(), content, live.Content, q.Target.Subresource, q.Warnings), catalog.Evidence{}
	}
	return form.ValidateChange(q.Context(), content, live.Content, q.Target.Subresource, q.Warnings, live.Evidence)
}

// withFields returns errs with the managed fields of object in each error that shows its metadata.
//
// Such an error prints the metadata as kube-apiserver has it. Here managed fields stand beside the content, so they are joined for the
// error.
func withFields(errs field.ErrorList, object managedfields.Object) field.ErrorList {
	for _, e := range errs {
		if _, whole := e.BadValue.(map[string]any); !whole || e.Field != "metadata" {
			continue
		}
		if document, err := object.Value(); err == nil {
			e.BadValue = document.Get("metadata").ToAny()
		}
	}
	return errs
}

// warnOfFinalizers warns of finalizers of a custom resource that are new and should be named otherwise.
func warnOfFinalizers(q *rest.Request, content, live value.Value) {
	if q.Version.Custom {
		q.Warnings.Add(api.FinalizerWarnings(content, live)...)
	}
}

// invalid returns the 422 of an object with faults. The 422 names the kind that the object names, and for built-in kinds the group in which
// their objects are stored.
//
// For built-in kinds but definitions, equal errors are one cause.
func invalid(v *catalog.Version, content value.Value, errs field.ErrorList) error {
	kind := kindIn(content)
	if group, _, ok := strings.Cut(v.Hashed, "/"); ok {
		kind.Group = group
	}
	if v.Custom || v.GroupResource().Group == "apiextensions.k8s.io" {
		return api.Invalid(kind, api.Meta(content, "name"), errs)
	}
	return api.InvalidOnce(kind, api.Meta(content, "name"), errs)
}

// kindIn returns the kind that content names.
func kindIn(content value.Value) kschema.GroupKind {
	gvk := schema.ParseGVK(content.Get("apiVersion").Str(), content.Get("kind").Str())
	return kschema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}
}
