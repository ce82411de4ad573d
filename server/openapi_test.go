package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// TestOpenAPI reads the documents of all versions, and finds what kubectl looks for: that a patch of a kind takes field
// validation.
func TestOpenAPI(t *testing.T) {
	s := widgets(t)
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(ask(s, "GET /openapi/v3", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"api/v1", "apis/apps/v1", "apis/example.org/v1"} {
		url := list.Paths[want].ServerRelativeURL
		w := ask(s, "GET "+url, "")
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
			if item.Patch == nil {
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
		moved := ask(s, "GET /openapi/v3/"+want+"?hash=old", "")
		if moved.Code != http.StatusMovedPermanently || moved.Header().Get("Location") != url {
			t.Errorf("%s: an old hash gives %d %s", want, moved.Code, moved.Header().Get("Location"))
		}
	}
}
