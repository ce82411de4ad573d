package write

import (
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/value"
)

// validateNew returns a 422 with everything that is wrong with a new object, or why the request ended meanwhile.
func (w *write) validateNew(content value.Value) error {
	var errs field.ErrorList
	if form, ok := w.Version.Form.(catalog.Sparing); ok {
		errs, w.proof = form.ValidateChange(w.Context(), content, value.Value{}, "", w.Warnings, catalog.Proof{})
	} else {
		errs = w.Version.Form.ValidateCreate(w.Context(), content, w.Warnings)
	}
	if err := w.Context().Err(); err != nil {
		return err
	}
	if len(errs) == 0 {
		errs = api.ValidateNew(content, w.Version.Namespaced)
	}
	if len(errs) > 0 {
		return w.invalid(content, errs)
	}
	w.faultless = w.Warnings.Empty()
	w.warnOfFinalizers(content, value.Value{})
	return nil
}

// validate returns a 422 with everything that is wrong with object in place of live, or why the request ended meanwhile. It does not look
// again at an object that stays as it is, if nothing was found when it was written.
func (w *write) validate(object managedfields.Object, stored read.Live) error {
	content, live, whole := object.Content, stored.Content, w.Target.Subresource == ""
	if w.faultless = whole && stored.Faultless && w.Version.Form.Timeless() && content.Equal(live); w.faultless {
		w.proof = stored.Proof
		return nil
	}
	errs := api.ValidateReplaced(content, live, w.Version.Namespaced)
	errs = append(errs, w.validateChange(content, stored)...)
	if err := w.Context().Err(); err != nil {
		return err
	}
	w.faultless = whole && w.Warnings.Empty()
	if len(errs) > 0 {
		return w.invalid(content, withFields(errs, object))
	}
	if w.Target.Subresource == "" {
		w.warnOfFinalizers(content, live)
	}
	return nil
}

// validateChange returns what the kind finds wrong with content in place of live.
func (w *write) validateChange(content value.Value, live read.Live) (errs field.ErrorList) {
	form, ok := w.Version.Form.(catalog.Sparing)
	if !ok {
		return w.Version.Form.ValidateUpdate(w.Context(), content, live.Content, w.Target.Subresource, w.Warnings)
	}
	errs, w.proof = form.ValidateChange(w.Context(), content, live.Content, w.Target.Subresource, w.Warnings, live.Proof)
	return errs
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

func (w *write) warnOfFinalizers(content, live value.Value) {
	if w.Version.Custom {
		w.Warnings.Add(api.FinalizerWarnings(content, live)...)
	}
}

// invalid refuses an object, with 422, for what is wrong with it. It is called by the kind that it says it is of, in the group that objects
// of a built-in kind are stored in.
func (w *write) invalid(content value.Value, errs field.ErrorList) error {
	kind := kindIn(content)
	if group, _, ok := strings.Cut(w.Version.Hashed, "/"); ok {
		kind.Group = group
	}
	if w.Version.Custom {
		return api.Invalid(kind, api.Meta(content, "name"), errs)
	}
	return api.InvalidOnce(kind, api.Meta(content, "name"), errs)
}

// kindIn returns the kind that content says it is of.
func kindIn(content value.Value) kschema.GroupKind {
	gvk := schema.ParseGVK(content.Get("apiVersion").Str(), content.Get("kind").Str())
	return kschema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}
}
