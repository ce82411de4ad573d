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

// verdict is what validation found out about an object that it let pass.
type verdict struct {
	faultless bool // nothing was found wrong with the whole object, and no warning was given
	proof     catalog.Proof
}

// validateNew returns a 422 with everything that is wrong with a new object, or why the request ended meanwhile.
func validateNew(q *rest.Request, content value.Value) (verdict, error) {
	var errs field.ErrorList
	var valid verdict
	if form, ok := q.Version.Form.(catalog.Sparing); ok {
		errs, valid.proof = form.ValidateChange(q.Context(), content, value.Value{}, "", q.Warnings, catalog.Proof{})
	} else {
		errs = q.Version.Form.ValidateCreate(q.Context(), content, q.Warnings)
	}
	if err := q.Context().Err(); err != nil {
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

// validate returns a 422 with everything that is wrong with object in place of live, or why the request ended meanwhile. It does not look
// again at an object that stays as it is, if nothing was found when it was written.
func validate(q *rest.Request, object managedfields.Object, stored read.Live) (verdict, error) {
	content, live, whole := object.Content, stored.Content, q.Target.Subresource == ""
	if whole && stored.Faultless && q.Version.Form.Timeless() && content.Equal(live) {
		return verdict{faultless: true, proof: stored.Proof}, nil
	}
	errs := api.ValidateReplaced(content, live, q.Version.Namespaced)
	found, proof := validateChange(q, content, stored)
	errs = append(errs, found...)
	if err := q.Context().Err(); err != nil {
		return verdict{}, err
	}
	valid := verdict{faultless: whole && q.Warnings.Empty(), proof: proof}
	if len(errs) > 0 {
		return valid, invalid(q.Version, content, withFields(errs, object))
	}
	if whole {
		warnOfFinalizers(q, content, live)
	}
	return valid, nil
}

// validateChange returns what the kind finds wrong with content in place of live.
func validateChange(q *rest.Request, content value.Value, live read.Live) (field.ErrorList, catalog.Proof) {
	form, ok := q.Version.Form.(catalog.Sparing)
	if !ok {
		return q.Version.Form.ValidateUpdate(q.Context(), content, live.Content, q.Target.Subresource, q.Warnings), catalog.Proof{}
	}
	return form.ValidateChange(q.Context(), content, live.Content, q.Target.Subresource, q.Warnings, live.Proof)
}

// withFields returns errs, of which those that show the metadata of object show its managed fields as well.
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

// invalid refuses an object, with 422, for what is wrong with it. It is called by the kind that it says it is of, in the group that objects
// of a built-in kind are stored in.
func invalid(v *catalog.Version, content value.Value, errs field.ErrorList) error {
	kind := kindIn(content)
	if group, _, ok := strings.Cut(v.Hashed, "/"); ok {
		kind.Group = group
	}
	if v.Custom {
		return api.Invalid(kind, api.Meta(content, "name"), errs)
	}
	return api.InvalidOnce(kind, api.Meta(content, "name"), errs)
}

// kindIn returns the kind that content says it is of.
func kindIn(content value.Value) kschema.GroupKind {
	gvk := schema.ParseGVK(content.Get("apiVersion").Str(), content.Get("kind").Str())
	return kschema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}
}
