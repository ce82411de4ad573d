package wire

import (
	"cmp"
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/structsize"
	"github.com/deed-project/deed/value"
)

// Bodies in CBOR, read by the library of kube-apiserver with its settings.

// decodeCBOR reads a CBOR map with the settings of kube-apiserver's serializer: a duplicate name is an error.
func decodeCBOR(body []byte) (value.Value, error) {
	content := map[string]any{}
	if err := direct.Unmarshal(body, &content); err != nil {
		return value.Value{}, err
	}
	return value.FromAny(content)
}

// DecodeCBOR is [DecodeObject] for CBOR.
//
// A body that has a kind decodes to an unstructured object, and one without a kind is refused. As in kube-apiserver, nothing tells a client of
// unknown fields.
func DecodeCBOR(body []byte, kind string) (Decoded, error) {
	object := &unstructured.Unstructured{}
	if _, gvk, err := cbor.NewSerializer(nil, typer{}).Decode(body, nil, object); err != nil {
		return Decoded{}, undecodable(gvk, kind, err, body)
	}
	content, err := value.FromAny(object.Object)
	return Decoded{Content: content, AllStrict: true}, err
}

// DecodeApplyCBOR reads the configuration of an apply from CBOR. A duplicate name in a map is an error. The error is a 400: the body is no
// CBOR.
func DecodeApplyCBOR(body []byte) (Applied, error) {
	content, err := decodeCBOR(body)
	if err == nil {
		return Applied{Content: content}, nil
	}
	var other any
	if direct.Unmarshal(body, &other) == nil {
		return Applied{Refusal: undecodablePatch(err)}, nil
	}
	return Applied{}, undecodablePatch(err)
}

// DecodeStandardCBOR is [DecodeStandard] for CBOR. It also reads the body into object, a pointer to the Go type of the kind, unless the body is of
// another kind. check sees the object as JSON text before. The error is a 400, or [structsize.ErrSize], or that of check.
//
// The Go type takes less of CBOR than of JSON: a quantity must be a text, for example. It also names unknown fields otherwise.
func DecodeStandardCBOR(body []byte, object any, standard schema.GVK, check func(text []byte) error) (Decoded, error) {
	into, isObject := object.(runtime.Object)
	content, err := decodeCBOR(body)
	if err == nil {
		text := content.AppendJSON(nil)
		if err := errors.Join(check(text), structsize.JSON(text, reflect.TypeOf(object).Elem())); err != nil {
			return Decoded{}, err
		}
	}
	if err != nil || !isObject {
		into = &metav1.PartialObjectMetadata{} // the library looks for a fault of the kind first
	}
	gvk := kschema.GroupVersionKind{Group: standard.Group, Version: standard.Version, Kind: standard.Kind}
	_, actual, first := cbor.NewSerializer(otherKinds{}, typerOf{gvk}, cbor.Strict(true)).Decode(body, &gvk, into)
	sent := Decoded{AllStrict: true}
	if strict, ok := runtime.AsStrictDecodingError(first); ok {
		for _, e := range strict.Errors() {
			sent.Strict = append(sent.Strict, e.Error())
		}
		first = nil
	}
	if err := cmp.Or(first, err); err != nil {
		return sent, undecodable(actual, standard.Kind, err, body)
	}
	stated := kschema.FromAPIVersionAndKind(content.Get("apiVersion").Str(), "")
	sent.Unversioned = stated.Empty()
	sent.Content = content.With("apiVersion", value.String(actual.GroupVersion().String())).With("kind", value.String(actual.Kind))
	return sent, nil
}

// typerOf implements runtime.ObjectTyper for objects of one kind.
type typerOf struct{ kind kschema.GroupVersionKind }

// ObjectKinds returns the kind.
func (t typerOf) ObjectKinds(runtime.Object) ([]kschema.GroupVersionKind, bool, error) {
	return []kschema.GroupVersionKind{t.kind}, false, nil
}

// Recognizes reports whether kind is the kind.
func (t typerOf) Recognizes(kind kschema.GroupVersionKind) bool { return kind == t.kind }

// otherKinds implements runtime.ObjectCreater for objects whose Go type does not matter, since they are refused for their kind later.
type otherKinds struct{}

// New returns an object of any kind.
func (otherKinds) New(kschema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{}, nil
}
