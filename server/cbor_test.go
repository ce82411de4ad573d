package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// asCBOR returns a body as it is sent: a JSON body in CBOR, if the request says that it is CBOR.
func asCBOR(t *testing.T, request, body string) string {
	t.Helper()
	var document any
	_, form, _ := strings.Cut(request, "Content-Type=")
	if form, _, _ = strings.Cut(form, " "); !strings.HasSuffix(form, "cbor") || kjson.Unmarshal([]byte(body), &document) != nil {
		return body
	}
	encoded, err := direct.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// asJSON returns an answer with JSON in place of CBOR: a line for each event of a watch.
func asJSON(t *testing.T, w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	t.Helper()
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/cbor") {
		return w
	}
	var text bytes.Buffer
	frames, frame := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(w.Body.Bytes()))), make([]byte, w.Body.Len())
	for {
		n, err := frames.Read(frame)
		if errors.Is(err, io.EOF) && n == 0 {
			break
		}
		var document any
		if err == nil {
			err = direct.Unmarshal(frame[:n], &document)
		}
		if err == nil {
			err = json.NewEncoder(&text).Encode(document)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.Body = &text
	return w
}
