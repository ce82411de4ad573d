package pair

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// The media types of objects as CBOR, which kube-apiserver reads and writes behind the feature gate CBORServingAndStorage.
const (
	CBOR      = "application/cbor"
	cborEvent = "application/cbor-seq"
	ApplyCBOR = "application/apply-patch+cbor"
)

// EncodeCBOR returns a JSON value as CBOR.
func EncodeCBOR(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any // with numbers, and not their texts
	if err := utiljson.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	return direct.Marshal(out)
}

// DecodeCBOR returns the JSON text of a value that comes as CBOR.
func DecodeCBOR(body []byte) ([]byte, error) {
	var out any
	if err := direct.Unmarshal(body, &out); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// decodeSequence returns the JSON texts of a sequence of values, a line each.
func decodeSequence(body []byte) ([]byte, error) {
	frames, frame := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(body))), make([]byte, len(body))
	var out []byte
	for {
		n, err := frames.Read(frame)
		if errors.Is(err, io.EOF) && n == 0 {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		line, err := DecodeCBOR(frame[:n])
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
}
