package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
)

const definitionsURL = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func definition(plural string) string {
	return strings.ReplaceAll(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "PLURAL.example.org"}, "spec": {"group": "example.org", "scope": "Namespaced",
		"names": {"kind": "KPLURAL", "plural": "PLURAL"}, "versions": [{"name": "v1", "served": true, "storage": true,
		"schema": {"openAPIV3Schema": {"type": "object"}}}]}}`, "PLURAL", plural)
}

// TestHookDefines lets a webhook that is asked about the status of a definition create another one before it answers.
func TestHookDefines(t *testing.T) {
	t.Parallel()
	var s *server.Server
	hooks := hookServer(t, func(_ string, r map[string]any) map[string]any {
		if r["name"] == "firsts.example.org" {
			if code, v := request(t, s, http.MethodPost, definitionsURL, definition("seconds")); code != http.StatusCreated {
				t.Errorf("%d %v", code, v)
			}
			if code, v := request(t, s, http.MethodGet, "/apis/example.org/v1/seconds", ""); code != http.StatusOK {
				t.Errorf("the second is not served yet: %d %v", code, v)
			}
		}
		return map[string]any{"allowed": true}
	})
	s = startServer(t, server.Config{})
	c := configuration(hooks, "ValidatingWebhookConfiguration", "c", `, "timeoutSeconds": 30`)
	c = strings.Replace(c, `"apiGroups": [""]`, `"apiGroups": ["*"]`, 1)
	configure(t, s, validatingPath, strings.Replace(c, `"configmaps"`, `"customresourcedefinitions/status"`, 1))
	configure(t, s, definitionsURL, definition("firsts"))
	for _, plural := range []string{"firsts", "seconds"} {
		_, v := request(t, s, http.MethodGet, definitionsURL+"/"+plural+".example.org", "")
		if v.Get("status", "acceptedNames", "plural").Str() != plural {
			t.Errorf("%s have not their status: %v", plural, v.Get("status"))
		}
		if code, v := request(t, s, http.MethodGet, "/apis/example.org/v1/"+plural, ""); code != http.StatusOK {
			t.Errorf("%s are not served: %d %v", plural, code, v)
		}
	}
}
