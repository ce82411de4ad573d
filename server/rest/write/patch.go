package write

import (
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Patch carries out PATCH: an apply, a JSON patch, a merge patch or, for built-in kinds, a strategic merge patch.
//
//	media     which of them
//	options   of the query
//	change    what the patch makes of what is stored: see apply.go and patches.go
//	identify  the outcome's namespace and name
//	store     in place of what is there; see write.run. An apply creates what is not there
func (r *Request) Patch() (*read.Answer, error) {
	media, err := wire.PatchMedia(r.HTTP, r.Offer(), r.patchTypes()...)
	if err != nil {
		return nil, err
	}
	if r.Target.Name == "" {
		return nil, errors.NewBadRequest("name must be provided")
	}
	r.ObjectName = r.Target.Name
	body, err := wire.ReadBody(r.HTTP, MaxBody)
	if err != nil {
		return nil, err
	}
	options, err := api.ParsePatchOptions(r.Query, types.PatchType(media))
	if err != nil {
		return nil, err
	}
	change, err := r.patchOf(types.PatchType(media), body, options)
	if err != nil {
		return nil, err
	}
	if r.Target.Subresource == "scale" {
		return r.patchScale(change, options)
	}
	applies := isApply(types.PatchType(media))
	w := &write{Request: r, dryRun: options.DryRun, applies: applies, create: applies && r.Target.Subresource == ""}
	object, created, err := w.run(func(live read.Live) (managedfields.Object, error) {
		object, err := change(live)
		if err != nil {
			return object, err
		}
		object.Content, err = r.identified(object)
		return object, err
	})
	if err != nil {
		return nil, err
	}
	if created {
		return w.answer(http.StatusCreated, object), nil
	}
	return w.answer(http.StatusOK, object), nil
}

// patchTypes returns the types of patches that the resource takes: only Go types say how lists are merged strategically.
func (r *Request) patchTypes() []string {
	out := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if r.Version.New != nil {
		out = append(out, string(types.StrategicMergePatchType))
	}
	out = append(out, string(types.ApplyYAMLPatchType))
	if r.CBOR {
		out = append(out, string(types.ApplyCBORPatchType))
	}
	return out
}

// isApply reports whether a patch is the configuration of an apply.
func isApply(typ types.PatchType) bool {
	return typ == types.ApplyYAMLPatchType || typ == types.ApplyCBORPatchType
}

// patchOf reads a patch, and returns what it does.
func (r *Request) patchOf(typ types.PatchType, body []byte, options api.WriteOptions) (change, error) {
	if isApply(typ) {
		return r.applyOf(typ, body, options)
	}
	patch, err := parsePatch(r.Context(), typ, body, options, r.ofScale().Version.New)
	if err != nil {
		return nil, err
	}
	merge, beside := r.besideFields(typ, body)
	return func(live read.Live) (managedfields.Object, error) {
		if beside {
			object, unknown, err := r.form(mergepatch.Apply(live.Content, merge), live.SettledContent())
			says := object.Content.Get("kind").Str() != "" && object.Content.Get("apiVersion").Str() != ""
			if err == nil && len(unknown) == 0 && says {
				object.Entries = live.Entries
				return r.update(live, object, options)
			}
		}
		content, err := live.Value()
		if err != nil {
			return managedfields.Object{}, err
		}
		patched, strict, err := patch(content)
		if err != nil {
			return managedfields.Object{}, err
		}
		object, unknown, err := r.ofScale().patchedForm(typ, patched)
		if costly := costly(err); costly != nil {
			return object, costly
		}
		if err != nil {
			return object, invalidPatch(shownPatch(typ, body, patched), err)
		}
		if strict = append(strict, unknown...); len(strict) > 0 && options.Validation == api.Strict {
			return object, invalidPatch(shownPatch(typ, body, patched), strictError(strict))
		}
		r.warnStrict(options, strict)
		if r.Version.Custom && r.Target.Subresource != "scale" && lacksVersion(patched) {
			return managedfields.Object{}, errors.NewInternalError(runtime.NewMissingVersionErr("object has no apiVersion field"))
		}
		if r.Target.Subresource == "scale" {
			return r.replaceScale(live, object, options)
		}
		return r.update(live, object, options)
	}, nil
}

// lacksVersion reports whether an object says its kind and no apiVersion.
func lacksVersion(object value.Value) bool {
	v := object.Get("apiVersion")
	return object.Get("kind").Str() != "" && v.Str() == "" && (v.IsAbsent() || v.Kind() == value.KindString)
}

// besideFields returns a merge patch of a custom resource, and whether it leaves managed fields alone: then it can be carried out on what
// they stand beside.
func (r *Request) besideFields(typ types.PatchType, body []byte) (patch value.Value, beside bool) {
	if typ != types.MergePatchType || !r.Version.Custom || r.Target.Subresource == "scale" {
		return patch, false
	}
	patch, err := value.Parse(body)
	metadata := patch.Get("metadata")
	untouched := metadata.IsAbsent() || metadata.Kind() == value.KindObject && metadata.Get("managedFields").IsAbsent()
	return patch, err == nil && patch.Kind() == value.KindObject && untouched
}

// invalidPatch refuses, with 422, a patch for what it makes of an object.
func invalidPatch(shown string, why error) error {
	return api.Invalid(kschema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), shown, why.Error()),
	})
}

// identified returns the content of an object in the namespace of the request. The error is a 400 if the object is not the one
// that the path names.
func (r *Request) identified(object managedfields.Object) (value.Value, error) {
	content, err := api.InNamespace(object.Content, r.Target.Namespace)
	if err != nil {
		return content, err
	}
	return content, api.CheckName(content, r.Target.Name)
}
