package wire

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"

	"github.com/deed-project/deed/schema"
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
// A body that has a kind decodes to an unstructured object, and one without a kind is refused.
func DecodeCBOR(body []byte, kind string) (Decoded, error) {
	object := &unstructured.Unstructured{}
	if _, _, err := cbor.NewSerializer(nil, typer{}).Decode(body, nil, object); err != nil {
		return Decoded{}, unrecognized(kind, err, summary(body))
	}
	content, err := value.FromAny(object.Object)
	return Decoded{Content: content}, err
}

// DecodeStandardCBOR is [DecodeStandard] for CBOR.
//
// Unlike DecodeCBOR it accepts a body without a kind, which then is of kind standard.
func DecodeStandardCBOR(body []byte, standard schema.GVK) (Decoded, error) {
	content, err := decodeCBOR(body)
	if err != nil {
		return Decoded{}, unrecognized(standard.Kind, err, summary(body))
	}
	sent := Decoded{Content: content}
	err = sent.complete(standard, body)
	return sent, err
}
