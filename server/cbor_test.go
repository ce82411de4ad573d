package server_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/server/internal/servertest"
)

// asCBOR returns a body as it is sent: a JSON body in CBOR, if the request says that it is CBOR.
func asCBOR(t *testing.T, request, body string) string {
	t.Helper()
	var document any
	_, form, _ := strings.Cut(request, "Content-Type=")
	if form, _, _ = strings.Cut(form, " "); !strings.HasSuffix(form, "cbor") || kjson.Unmarshal([]byte(body), &document) != nil {
		return body
	}
	return servertest.InCBOR(t, document)
}

// asJSON returns an answer with JSON in place of CBOR: a line for each event of a watch.
func asJSON(t *testing.T, w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	t.Helper()
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/cbor") {
		return w
	}
	var text bytes.Buffer
	for _, document := range servertest.FromCBOR(t, w.Body.Bytes()) {
		if err := json.NewEncoder(&text).Encode(document); err != nil {
			t.Fatal(err)
		}
	}
	w.Body = &text
	return w
}
