package write

import (
	stderrors "errors"
	"sync"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
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
//	store     in place of what is there; see Task.Run. An apply creates what is not there
//
// The options come before the patch is parsed: this is the order of kube-apiserver's refusals. A patch is read once, and carried out in each attempt
// of Task.Run, since the object may be another one each time. Only an apply may create: at the main endpoint, and of some kinds at that of the
// status.
func (w *Writer) Patch(q *rest.Request) (*rest.Answer, error) {
	media, err := PatchMedia(q)
	if err != nil {
		return nil, err
	}
	body, err := wire.ReadBody(q.HTTP, MaxBody)
	if err != nil {
		return nil, err
	}
	typ := types.PatchType(media)
	options, err := api.ParsePatchOptions(q.Query, typ)
	if err != nil {
		return nil, err
	}
	if q.Record.WantsBody() {
		q.Record.SendPatch(patchText(typ, body))
	}
	change, err := patchOf(q, typ, body, options)
	if err != nil {
		return nil, err
	}
	if q.IsScale() {
		return w.writeScale(q, options, "", change)
	}
	t := &Task{Writer: w, Request: q, DryRun: options.DryRun, applies: isApply(typ)}
	t.create = t.applies && (q.Target.Subresource == "" || q.Version.CreateOnUpdate || q.Version.CreateOnApply)
	patched, err := t.Run(func(live *read.Live) (managedfields.Object, error) {
		object, err := change(live)
		if err != nil {
			return object, err
		}
		object.Content, err = identified(q, object)
		return object, err
	})
	if err != nil {
		return nil, err
	}
	return patched.answer(), nil
}

// patchText returns a patch as JSON text, or as it is if it has no such text.
func patchText(typ types.PatchType, body []byte) []byte {
	switch typ {
	case types.ApplyYAMLPatchType:
		if text, err := yaml.YAMLToJSON(body); err == nil {
			return text
		}
	case types.ApplyCBORPatchType:
		if sent, err := wire.DecodeCBOR(body, ""); err == nil {
			return sent.Content.AppendJSON(nil)
		}
	}
	return body
}

// PatchMedia returns the media type of a patch. The error is a 415 if the resource does not take it.
func PatchMedia(q *rest.Request) (string, error) {
	return wire.PatchMedia(q.HTTP, q.Offer(), patchTypes(q)...)
}

// patchTypes returns the types of patches that the resource takes: only Go types say how lists are merged strategically.
func patchTypes(q *rest.Request) []string {
	out := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if q.Version.New != nil {
		out = append(out, string(types.StrategicMergePatchType))
	}
	out = append(out, string(types.ApplyYAMLPatchType))
	if q.CBOR {
		out = append(out, string(types.ApplyCBORPatchType))
	}
	return out
}

// isApply reports whether a patch is the configuration of an apply.
func isApply(typ types.PatchType) bool {
	return typ == types.ApplyYAMLPatchType || typ == types.ApplyCBORPatchType
}

// patchOf reads a patch, and returns what it does.
//
// It returns the errors that need no object, and the Change returns the others. A patch is applied to what a client sees, managed fields
// included, because it may change them. Where a merge patch of a custom resource surely leaves them alone, the patch is applied beside
// them. That spares converting the entries of each manager to a document and back.
func patchOf(q *rest.Request, typ types.PatchType, body []byte, options api.WriteOptions) (Change, error) {
	if isApply(typ) {
		return applyOf(q, typ, body, options)
	}
	version := ofScale(q).Version
	patch, err := parsePatch(q.Context(), typ, body, options, version.New)
	if err != nil {
		return nil, err
	}
	merge, beside := besideFields(q, typ, body)
	return func(live *read.Live) (managedfields.Object, error) {
		if beside {
			object, unknown, err := decodeAs(version, mergepatch.Apply(live.Content, merge), live.SettledContent(), nil)
			// The short cut stands only if nothing is to be reported. Otherwise the long way finds the error, in its own words and order.
			says := object.Content.Get("kind").Str() != "" && object.Content.Get("apiVersion").Str() != ""
			if err == nil && len(unknown) == 0 && says {
				object.Entries = live.Entries
				return Own(q, live, object, options)
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
		shown := sync.OnceValue(func() string { return shownPatch(typ, body, content, patched, version.New) })
		object, err := patchedObject(q, typ, patched, strict, shown, options)
		if err != nil {
			return object, err
		}
		if q.IsScale() {
			return replaceScale(q, live, object, options)
		}
		// The field manager of custom resources cannot tell the version, which is a 500 in kube-apiserver.
		if q.Version.Custom && lacksVersion(patched) {
			return managedfields.Object{}, errors.NewInternalError(runtime.NewMissingVersionErr("object has no apiVersion field"))
		}
		return Own(q, live, object, options)
	}, nil
}

// patchedObject returns the outcome of a patch as an object. strict has the faults that strict decoding finds in the patch. The error is the
// refusal of a patch with such faults, or whose outcome is no valid object, and shows the patch as shown has it.
//
// kube-apiserver reports strict faults of the patch before those of its outcome, so strict comes first.
func patchedObject(
	q *rest.Request, typ types.PatchType, patched value.Value, strict []string, shown func() string, options api.WriteOptions,
) (managedfields.Object, error) {
	version := ofScale(q).Version
	object, unknown, err := patchedForm(version, typ, patched, nil, q.IsScale())
	if (err != nil || len(unknown) > 1) && costly(err) == nil && typ != types.StrategicMergePatchType && !version.Custom {
		// Of several faults, kube-apiserver finds those first that come first in the text of the outcome.
		object, unknown, err = patchedForm(version, typ, patched, []byte(shown()), q.IsScale())
	}
	if costly := costly(err); costly != nil {
		return object, costly
	}
	var unconverted conversionError // as it is, behind strict faults
	if err != nil && !(typ == types.StrategicMergePatchType && stderrors.As(err, &unconverted)) {
		return object, invalidPatch(shown(), err)
	}
	if strict = append(strict, unknown...); len(strict) > 0 && options.Validation == api.Strict {
		return object, invalidPatch(shown(), strictError(strict))
	}
	warnStrict(q, options, strict)
	return object, err
}

// lacksVersion reports whether an object has a kind and no apiVersion.
func lacksVersion(object value.Value) bool {
	v := object.Get("apiVersion")
	return object.Get("kind").Str() != "" && v.Str() == "" && (v.IsAbsent() || v.Kind() == value.KindString)
}

// besideFields returns a merge patch of a custom resource, and whether the patch leaves managed fields alone. Then it can be applied to the
// content without them.
func besideFields(q *rest.Request, typ types.PatchType, body []byte) (patch value.Value, beside bool) {
	if typ != types.MergePatchType || !q.Version.Custom || q.IsScale() {
		return patch, false
	}
	patch, err := value.Parse(body)
	metadata := patch.Get("metadata")
	untouched := metadata.IsAbsent() || metadata.Kind() == value.KindObject && metadata.Get("managedFields").IsAbsent()
	return patch, err == nil && patch.Kind() == value.KindObject && untouched
}

// invalidPatch returns the 422 of a patch whose outcome is no valid object.
func invalidPatch(shown string, why error) error {
	return api.Invalid(kschema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), shown, why.Error()),
	})
}
