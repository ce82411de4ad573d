package servertest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// InCBOR returns a document in CBOR.
func InCBOR(t *testing.T, document any) string {
	t.Helper()
	body, err := direct.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// FromCBOR returns the documents of a body in CBOR, which may be a sequence.
func FromCBOR(t *testing.T, body []byte) (out []any) {
	t.Helper()
	frames, frame := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(body))), make([]byte, len(body))
	for {
		n, err := frames.Read(frame)
		if errors.Is(err, io.EOF) && n == 0 {
			return out
		}
		var document any
		if err == nil {
			err = direct.Unmarshal(frame[:n], &document)
		}
		if err != nil {
			t.Fatalf("%v: %q", err, body)
		}
		out = append(out, document)
	}
}
