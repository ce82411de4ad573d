package wire_test

import (
	"net/http"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// TestCBOR creates, applies, reads and watches objects in CBOR, of a custom resource and of a built-in kind.
func TestCBOR(t *testing.T) {
	s := servertest.New(t, server.Config{CBOR: true})
	const sent, wanted = " Content-Type=" + wire.CBOR, " Accept=" + wire.CBOR
	for path, object := range map[string]map[string]any{
		servertest.Things: {
			"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": "web"},
			"spec": map[string]any{"color": "red"},
		},
		servertest.Core + "namespaces/default/configmaps": {"metadata": map[string]any{"name": "web"}, "data": map[string]any{"color": "red"}},
	} {
		w := servertest.Ask(s, "POST "+path+sent+wanted, inCBOR(t, object))
		if w.Code != http.StatusCreated || w.Header().Get("Content-Type") != wire.CBOR {
			t.Fatalf("%s: %d %q", path, w.Code, w.Body)
		}
		plain, err := value.Parse(servertest.Ask(s, "GET "+path+"/web", "").Body.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []value.Value{
			fromCBOR(t, w.Body.Bytes()), fromCBOR(t, servertest.Ask(s, "GET "+path+"/web"+wanted, "").Body.Bytes()),
		} {
			if !got.Equal(plain) {
				t.Errorf("in CBOR %v\nin JSON %v", got, plain)
			}
		}
		status := servertest.Ask(s, "GET "+path+"/none"+wanted, "")
		if got := fromCBOR(t, status.Body.Bytes()); status.Code != http.StatusNotFound || got.Get("reason").Str() != "NotFound" {
			t.Errorf("%s: %d %v", path, status.Code, got)
		}
		events := servertest.Ask(s, "GET "+path+"?watch=1&timeoutSeconds=1"+wanted, "")
		if got := fromCBOR(t, events.Body.Bytes()).Get("object"); !got.Equal(plain) ||
			events.Header().Get("Content-Type") != wire.CBORSequence {
			t.Errorf("%s: an event in CBOR %v\nin JSON %v", path, got, plain)
		}
	}
	apply := inCBOR(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "applied"}, "data": map[string]any{"size": "1"},
	})
	w := servertest.Ask(s, "PATCH "+servertest.Core+"namespaces/default/configmaps/applied?fieldManager=m Content-Type=application/apply-patch+cbor", apply)
	if w.Code != http.StatusCreated {
		t.Errorf("an apply in CBOR: %d %s", w.Code, w.Body)
	}
	if w := servertest.Ask(servertest.Widgets(t), "POST "+servertest.Things+sent, ""); w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("CBOR where it is not served: %d %s", w.Code, w.Body)
	}
}

func inCBOR(t *testing.T, object any) string {
	t.Helper()
	return servertest.InCBOR(t, object)
}

func fromCBOR(t *testing.T, body []byte) value.Value {
	t.Helper()
	documents := servertest.FromCBOR(t, body)
	if len(documents) != 1 {
		t.Fatalf("%d documents: %q", len(documents), body)
	}
	v, err := value.FromAny(documents[0])
	if err != nil {
		t.Fatal(err)
	}
	return v
}
