package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestOpenAPI reads the documents of all versions, and finds what kubectl looks for: that a patch of a kind takes field
// validation.
func TestOpenAPI(t *testing.T) {
	s := servertest.Widgets(t)
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(servertest.Ask(s, "GET /openapi/v3", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"api/v1", "apis/apps/v1", "apis/example.org/v1"} {
		url := list.Paths[want].ServerRelativeURL
		w := servertest.Ask(s, "GET "+url, "")
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, immutable" {
			t.Fatalf("%s: %s gives %d %v", want, url, w.Code, w.Header())
		}
		var document struct {
			Paths map[string]struct {
				Patch *struct {
					Parameters []struct{ Name string }
				}
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		patches := 0
		for path, item := range document.Paths {
			if item.Patch == nil || strings.Contains(path, "/proxy") {
				continue
			}
			patches++
			found := false
			for _, p := range item.Patch.Parameters {
				found = found || p.Name == "fieldValidation"
			}
			if !found {
				t.Errorf("%s: the patch of %s takes no fieldValidation", want, path)
			}
		}
		if patches == 0 {
			t.Errorf("%s describes no patch", want)
		}
		moved := servertest.Ask(s, "GET /openapi/v3/"+want+"?hash=old", "")
		if moved.Code != http.StatusMovedPermanently || moved.Header().Get("Location") != url {
			t.Errorf("%s: an old hash gives %d %s", want, moved.Code, moved.Header().Get("Location"))
		}
	}
}

// TestOpenAPIv2 reads the document of everything, as JSON and in protocol buffers, and not again once it is known.
func TestOpenAPIv2(t *testing.T) {
	s := servertest.Widgets(t)
	w := servertest.Ask(s, "GET /openapi/v2", "")
	document, err := value.Parse(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const widget = "org.example.v1.Widget"
	if document.Get("definitions", widget).IsAbsent() || document.Get("definitions", "io.k8s.api.apps.v1.Deployment").IsAbsent() {
		t.Error("the document lacks kinds")
	}
	const asked = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	p := servertest.Ask(s, "GET /openapi/v2 Accept="+asked, "")
	var message openapiv2.Document
	if err := proto.Unmarshal(p.Body.Bytes(), &message); err != nil {
		t.Fatal(err)
	}
	named := func(d *openapiv2.NamedSchema) bool { return d.Name == widget }
	if !slices.ContainsFunc(message.Definitions.AdditionalProperties, named) {
		t.Error("the document in protocol buffers lacks kinds")
	}
	if got := p.Header().Get("Content-Type"); got != "application/com.github.proto-openapi.spec.v2.v1.0+protobuf" {
		t.Errorf("the document in protocol buffers is %s", got)
	}
	etag := w.Header().Get("Etag")
	if again := servertest.Ask(s, "GET /openapi/v2 If-None-Match="+etag, ""); again.Code != http.StatusNotModified || etag == "" {
		t.Errorf("what is known is answered with %d", again.Code)
	}
	if w := servertest.Ask(s, "GET /openapi/v2 Accept=text/csv", ""); w.Code != http.StatusNotAcceptable || w.Body.Len() != 0 {
		t.Errorf("another media type: %d %s", w.Code, w.Body)
	}
}

// TestDocumentHeaders compares the headers of documents about the server, and what other methods than GET get, with those of a
// kube-apiserver.
func TestDocumentHeaders(t *testing.T) {
	s := servertest.Widgets(t)
	const plain = "text/plain; charset=utf-8"
	for request, want := range map[string]string{
		"GET /openapi/v2":                                      "200 application/json Accept-Encoding Accept bytes",
		"GET /openapi/v2 Accept-Encoding=gzip":                 "200 application/json Accept-Encoding Accept bytes gzip",
		"GET /openapi/v2 Accept-Encoding=gzip Range=bytes=0-9": "206 application/json Accept-Encoding Accept bytes",
		"HEAD /openapi/v2":                                     "200 application/json Accept-Encoding Accept bytes",
		"POST /openapi/v3":                                     "200 " + plain + " bytes",
		"GET /openapi/v3 Range=bytes=0-9":                      "206 " + plain + " bytes",
		"GET /openapi/v3/apis/apps/v1 Accept-Encoding=gzip":    "200 application/json Accept bytes",
		"GET /openapi/v3/apis/apps/v1?hash=x":                  "301 application/json Accept",
		"GET /openapi/v3/apis/apps/v1?hash=x Accept=application/com.github.proto-openapi.spec.v3@v1.0+protobuf": "301 application/com.github.proto-openapi.spec.v3.v1.0+protobuf Accept",
		"POST /api": "405 application/json", "HEAD /api/": "405 application/json", "PUT /api/v1": "405 application/json",
		"POST /api/v2": "404 application/json", "POST /apis": "200 application/json", "HEAD /apis/apps": "200 application/json",
		"DELETE /apis/apps/v1/": "405 application/json", "POST /apis/apps/v9": "404 application/json", "PATCH /version": "405 application/json",
		"POST " + strings.TrimSuffix(servertest.Group, "/"): "200 application/json", "POST /apis/nope/v1": "404 " + plain, "POST /apis/nope": "404 " + plain,
		"GET /api/v1//namespaces": "404 application/json", "GET /api//v1": "404 application/json", "GET //api": "404 " + plain,
		"GET /apis//v1": "404 " + plain, "GET /apis/apps//v1": "404 application/json", "GET /apis/nope/v1//x": "404 " + plain,
		"GET /openapi//v2": "404 " + plain, "GET " + servertest.Group + "/widgets": "404 " + plain, "GET /livez//ping": "404 " + plain,
		"GET /api/v1/../v1/namespaces": "404 application/json", "GET /api/v1/namespaces//pods": "200 application/json",
	} {
		w := servertest.Ask(s, request, "")
		h := w.Header()
		got := []string{fmt.Sprint(w.Code), h.Get("Content-Type")}
		got = append(got, h.Values("Vary")...)
		for _, name := range []string{"Accept-Ranges", "Content-Encoding"} {
			got = append(got, h.Values(name)...)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
	if text := servertest.Ask(s, "GET / Accept=application/yaml", "").Body.String(); !strings.HasPrefix(text, "{\n  \"paths\": [\n    \"/.well-known/openid-configuration\",\n    \"/api\",\n") {
		t.Errorf("the paths are %.100q", text)
	}
	whole, zipped := servertest.Ask(s, "GET /openapi/v2", "").Body.Bytes(), servertest.Ask(s, "GET /openapi/v2 Accept-Encoding=gzip", "").Body
	z, err := gzip.NewReader(zipped)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, whole) {
		t.Errorf("%d bytes are compressed of %d: %v", len(text), len(whole), err)
	}
	if part := servertest.Ask(s, "GET /openapi/v2 Range=bytes=5-20", "").Body.Bytes(); !bytes.Equal(part, whole[5:21]) {
		t.Errorf("a part is %q, want %q", part, whole[5:21])
	}
}
