package write

import (
	"context"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kmergepatch "k8s.io/apimachinery/pkg/util/mergepatch"

	"github.com/deed-project/deed/internal/mergepatch"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/jsonpatch"
	"github.com/deed-project/deed/server/kjson"
	"github.com/deed-project/deed/server/strategic"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// The patches that are no apply, and what kube-apiserver makes of their faults. A merge patch, also a strategic one, has two ways:
//
//	fast   the body is an object in which no name stands twice: it is parsed once, and carried out as a document
//	slow   anything else: the body is decoded as kube-apiserver decodes it, which finds repeated names and words the errors
//
// Invariant: on a body that the fast way takes, both ways give the same outcome. The slow way decodes the body in each attempt, and only
// once the object is found: kube-apiserver answers 404 before it reports most faults of a patch. A JSON patch is a list and has the slow
// way only.

// maxOperations is how many operations a JSON patch may have.
const maxOperations = 10000

// patch returns the patched content, and the faults that strict decoding finds in the text of the patch.
//
// It is called once for each attempt, and must not keep or modify content.
type patch func(content value.Value) (patched value.Value, strict []string, err error)

// shownPatch returns what a refusal shows: what is left of a strategic merge patch of content, and the outcome of any other patch. empty is
// that of [parsePatch].
func shownPatch(typ types.PatchType, body []byte, content, patched value.Value, empty func() any) string {
	if typ == types.StrategicMergePatchType {
		if left, err := leftOf(body, content, empty()); err == nil {
			return fmt.Sprint(left.ToAny())
		}
	}
	if text, err := outcomeText(typ, body, content, empty); err == nil {
		return string(text)
	}
	return string(patched.AppendJSON(nil))
}

// outcomeText returns the text that kube-apiserver has of content with a patch. empty is that of [parsePatch]. Members that the patch leaves
// alone are in the order of the fields of the Go type, and those of a custom resource by name. What a JSON patch adds is as its body has it.
func outcomeText(typ types.PatchType, body []byte, content value.Value, empty func() any) ([]byte, error) {
	text, err := contentText(content, empty)
	switch {
	case err != nil:
		return nil, err
	case typ == types.JSONPatchType:
		return jsonpatch.Outcome(text, body)
	default:
		return jsonpatch.MergeOutcome(text, body)
	}
}

// contentText returns an object as the Go type prints it, or by name if empty is nil.
func contentText(content value.Value, empty func() any) ([]byte, error) {
	if empty == nil {
		return content.AppendJSON(nil), nil
	}
	typed := empty()
	if err := structs.Into(content, typed); err != nil {
		return nil, err
	}
	return json.Marshal(typed)
}

// leftOf returns what is left of a strategic merge patch of content, which is of the Go type of typed.
func leftOf(body []byte, content value.Value, typed any) (value.Value, error) {
	changes := map[string]any{}
	if _, err := kjson.UnmarshalStrict(body, &changes); err != nil {
		return value.Value{}, err
	}
	sent, err := value.FromAny(changes)
	if err != nil {
		return value.Value{}, err
	}
	return strategic.Left(content, sent, typed)
}

// patchedForm is decodeAs for the outcome of a patch. kube-apiserver decodes the outcome anew: a custom resource must have a kind, an object of a
// built-in kind only an apiVersion. Without an apiVersion none of its fields are known. text is that of the outcome, or nil, see decodeAs; scale
// tells that the outcome is a Scale.
//
// Not all outcomes have an apiVersion and a kind, for a patch may remove them. The cases below are what the decoder of kube-apiserver does:
//
//	custom resource, no kind         an error
//	built-in, another kind alone     an error: the kind is looked up in the internal version
//	built-in, no apiVersion          an empty object of the internal type; every member is unknown
//	built-in, no kind                the kind of the resource
func patchedForm(v *catalog.Version, typ types.PatchType, patched value.Value, text []byte, scale bool) (managedfields.Object, []string, error) {
	if typ == types.StrategicMergePatchType {
		return strategicForm(v, patched)
	}
	var said struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	// Nearly all outcomes have both strings. Only if one is missing, encoding/json decodes them: it words the error of a member that is no
	// string, and it takes names in another case.
	if said.APIVersion, said.Kind = patched.Get("apiVersion").Str(), patched.Get("kind").Str(); said.APIVersion == "" || said.Kind == "" {
		if err := json.Unmarshal(patched.AppendJSON(nil), &said); err != nil {
			return managedfields.Object{}, nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
	}
	if said.APIVersion == "/" {
		said.APIVersion = ""
	}
	switch group, version, slash := strings.Cut(said.APIVersion, "/"); {
	case !v.Custom && slash && group != "" && version == "":
		return managedfields.Object{}, nil, runtime.NewMissingVersionErr(string(patched.AppendJSON(nil)))
	case v.Custom && said.Kind == "" && patched.Kind() == value.KindObject:
		return managedfields.Object{}, nil, runtime.NewMissingKindErr(string(patched.AppendJSON(nil)))
	case !v.Custom && said.APIVersion == "" && said.Kind != "" && said.Kind != v.Kind:
		in := fmt.Sprintf("the internal version of group %q", v.Group)
		if scale {
			in = fmt.Sprintf("version %q", v.APIVersion())
		}
		return managedfields.Object{}, nil, fmt.Errorf(`no kind %q is registered for %s in scheme "pkg/runtime/scheme.go:111"`, said.Kind, in)
	case !v.Custom && said.APIVersion == "":
		return managedfields.Object{Content: value.Object()}, membersUnknown(patched), nil
	case !v.Custom && said.Kind == "":
		patched = patched.With("kind", value.String(v.Kind))
	}
	return decodeAs(v, patched, value.Value{}, text)
}

// membersUnknown returns the faults that strict decoding finds in an object whose members are unknown, except apiVersion and kind.
func membersUnknown(object value.Value) []string {
	var unknown []string
	for name := range object.Members() {
		if name != "kind" && name != "apiVersion" {
			unknown = append(unknown, fmt.Sprintf("unknown field %q", name))
		}
	}
	slices.Sort(unknown)
	return unknown
}

// strategicForm is decodeAs for the outcome of a strategic merge patch. kube-apiserver converts the outcome to the Go type of the resource,
// whatever kind it names. The conversion has its own error texts for members of a wrong type, its own paths of unknown fields (without
// the keys of maps), and takes numbers that the type of a member does not hold: it drops their high bits.
//
// So the library itself converts the outcome once decodeAs has found a fault.
func strategicForm(v *catalog.Version, patched value.Value) (managedfields.Object, []string, error) {
	for name, own := range map[string]string{"apiVersion": v.APIVersion(), "kind": v.Kind} {
		if said := patched.Get(name); said.IsAbsent() || said.IsNull() || said.Kind() == value.KindString {
			patched = patched.With(name, value.String(own))
		}
	}
	object, unknown, err := decodeAs(v, patched, value.Value{}, nil)
	if err == nil && len(unknown) == 0 || costly(err) != nil || patched.Kind() != value.KindObject {
		return object, unknown, err
	}
	typed := v.New()
	said := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(patched.ToAny().(map[string]any), typed, true)
	strict, only := runtime.AsStrictDecodingError(said)
	if said != nil && !only {
		return object, unknown, said
	}
	if unknown = nil; only {
		unknown = messages("", strict.Errors())
	}
	if err == nil {
		return object, unknown, nil
	}
	if patched, err = structs.From(typed); err != nil {
		return object, unknown, err
	}
	object, _, err = decodeAs(v, patched, value.Value{}, nil)
	return object, unknown, err
}

// parsePatch reads a patch that is no apply. empty returns an object of the Go type of the patched kind, by which strategic merge
// patches merge lists. The error is a 400.
func parsePatch(ctx context.Context, typ types.PatchType, body []byte, options api.WriteOptions, empty func() any) (patch, error) {
	if typ == types.MergePatchType || typ == types.StrategicMergePatchType {
		// The fast way, see above.
		if sent, err := value.Parse(body); err == nil && sent.Kind() == value.KindObject { // and no member is there twice
			return func(content value.Value) (value.Value, []string, error) {
				if typ == types.MergePatchType {
					return mergepatch.Apply(content, sent), nil, nil
				}
				content, err := strategic.Apply(ctx, content, sent, empty())
				return content, nil, strategicError(err)
			}, nil
		}
	}
	// The slow way. Text that is no JSON gets one error for all types of patches; a text whose decoding would cost too much gets a 422.
	if !json.Valid(body) {
		return nil, errors.NewBadRequest("invalid JSON patch")
	}
	if err := kjson.CheckPaths(body); err != nil {
		return nil, api.TooCostly(err.Error())
	}
	parse := parseMergePatch
	switch typ {
	case types.JSONPatchType:
		parse = func(body []byte, content value.Value, options api.WriteOptions) (value.Value, []string, error) {
			return parseJSONPatch(ctx, body, content, options)
		}
	case types.StrategicMergePatchType:
		parse = func(body []byte, content value.Value, options api.WriteOptions) (value.Value, []string, error) {
			return parseStrategicPatch(ctx, body, content, options, empty())
		}
	}
	return func(content value.Value) (value.Value, []string, error) { return parse(body, content, options) }, nil
}

// parseMergePatch carries out a merge patch in which a name stands twice, or that is no object. Only if field validation is off, a list takes
// the place of the object.
//
// "null" decodes to no map at all, which is neither an error of the decoder nor a patch.
func parseMergePatch(body []byte, content value.Value, options api.WriteOptions) (value.Value, []string, error) {
	changes := map[string]any{}
	found, err := kjson.UnmarshalStrict(body, &changes)
	switch {
	case err != nil && options.Validation != api.Ignore:
		return content, nil, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	case err != nil:
		content, err = replacedByList(body)
		return content, nil, err
	case changes == nil:
		return content, nil, errors.NewBadRequest(badMergePatch)
	}
	var strict []string
	if options.Validation != api.Ignore {
		strict = messages("", found)
	}
	sent, err := value.FromAny(changes)
	return mergepatch.Apply(content, sent), strict, err
}

// badMergePatch is what kube-apiserver says of a merge patch that is neither an object nor a list.
const badMergePatch = "Invalid JSON Patch"

// replacedByList returns what a merge patch makes of an object that is a list. The error is a 400 if it is none.
//
// A list at the root is not merged with anything. Wrapping it into an object lets the merge remove the nulls that kube-apiserver removes.
func replacedByList(body []byte) (value.Value, error) {
	items := []any{}
	if err := kjson.Unmarshal(body, &items); err != nil || items == nil {
		return value.Value{}, errors.NewBadRequest(badMergePatch)
	}
	list, err := value.FromAny(items)
	const member = "items" // a list in an object loses the nulls in its own objects
	patched := mergepatch.Apply(value.Object(), value.Object(value.Member{Name: member, Value: list}))
	return patched.Get(member), err
}

// jsonPatchOp is one operation of a JSON patch, as strict decoding knows it. Errors name it as kube-apiserver does.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// parseJSONPatch carries out a JSON patch.
//
// Strict decoding, the form of the operations, their number and their execution are checked in this order. A request that ends meanwhile
// returns the context's error: a patch of many copies can run long.
func parseJSONPatch(ctx context.Context, body []byte, content value.Value, options api.WriteOptions) (value.Value, []string, error) {
	var strict []string
	if options.Validation != api.Ignore {
		found, err := kjson.UnmarshalStrict(body, &[]jsonPatchOp{})
		if err != nil {
			text := strings.ReplaceAll(err.Error(), "write.jsonPatchOp", "handlers.jsonPatchOp")
			return content, nil, errors.NewBadRequest("error decoding patch: " + text)
		}
		strict = messages("json patch ", found)
	}
	operations, err := jsonpatch.Decode(body)
	if err != nil {
		return content, nil, errors.NewBadRequest(err.Error())
	}
	if len(operations) > maxOperations {
		return content, nil, errors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(operations)))
	}
	patched, err := jsonpatch.Apply(ctx, operations, content)
	switch {
	case ctx.Err() != nil:
		return content, nil, ctx.Err()
	case jsonpatch.Bound(err):
		return content, nil, api.TooCostly(err.Error())
	case err != nil:
		return content, nil, errors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", kschema.GroupResource{}, "",
			err.Error(), 0, false)
	}
	return patched, strict, nil
}

// parseStrategicPatch carries out a strategic merge patch; typed is of the Go type of content.
//
// Unlike a merge patch, a body that cannot be decoded is refused even if field validation is off.
func parseStrategicPatch(ctx context.Context, body []byte, content value.Value, options api.WriteOptions, typed any) (value.Value, []string, error) {
	changes := map[string]any{}
	found, err := kjson.UnmarshalStrict(body, &changes)
	if err != nil {
		return content, nil, errors.NewBadRequest(err.Error())
	}
	var strict []string
	if options.Validation != api.Ignore {
		strict = messages("", found)
	}
	sent, err := value.FromAny(changes)
	if err != nil {
		return content, nil, err
	}
	patched, err := strategic.Apply(ctx, content, sent, typed)
	return patched, strict, strategicError(err)
}

// strategicError returns the refusal of a strategic merge patch that cannot be carried out.
//
// Other errors stay as they are.
func strategicError(err error) error {
	switch {
	case stderrors.Is(err, kmergepatch.ErrBadJSONDoc), stderrors.Is(err, kmergepatch.ErrBadPatchFormatForPrimitiveList),
		stderrors.Is(err, kmergepatch.ErrBadPatchFormatForRetainKeys), stderrors.Is(err, kmergepatch.ErrBadPatchFormatForSetElementOrderList),
		stderrors.Is(err, kmergepatch.ErrUnsupportedStrategicMergePatchFormat), stderrors.Is(err, strategic.ErrNullItem):
		return errors.NewBadRequest(err.Error())
	case stderrors.Is(err, kmergepatch.ErrNoListOfLists):
		return errors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", kschema.GroupResource{}, "", err.Error(), 0, false)
	}
	return err
}

// messages returns the texts of errs, each with a prefix.
func messages(prefix string, errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, prefix+err.Error())
	}
	return out
}
