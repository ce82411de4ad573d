package controllers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestHookDefines lets a webhook that is asked about the status of a definition create another one before it answers.
func TestHookDefines(t *testing.T) {
	t.Parallel()
	var s *server.Server
	hooks := servertest.HookServer(t, func(_ string, r map[string]any) map[string]any {
		if r["name"] == "firsts.example.org" {
			if code, v := servertest.Send(t, s, http.MethodPost, servertest.DefinitionsPath, servertest.Definition("seconds")); code != http.StatusCreated {
				t.Errorf("%d %v", code, v)
			}
			if code, v := servertest.Send(t, s, http.MethodGet, "/apis/example.org/v1/seconds", ""); code != http.StatusOK {
				t.Errorf("the second is not served yet: %d %v", code, v)
			}
		}
		return map[string]any{"allowed": true}
	})
	s = servertest.Start(t, server.Config{})
	c := servertest.HookConfiguration(hooks, "ValidatingWebhookConfiguration", "c", `, "timeoutSeconds": 30`)
	c = strings.Replace(c, `"apiGroups": [""]`, `"apiGroups": ["*"]`, 1)
	servertest.Create(t, s, servertest.ValidatingPath, strings.Replace(c, `"configmaps"`, `"customresourcedefinitions/status"`, 1))
	servertest.Create(t, s, servertest.DefinitionsPath, servertest.Definition("firsts"))
	for _, plural := range []string{"firsts", "seconds"} {
		_, v := servertest.Send(t, s, http.MethodGet, servertest.DefinitionsPath+"/"+plural+".example.org", "")
		if v.Get("status", "acceptedNames", "plural").Str() != plural {
			t.Errorf("%s have not their status: %v", plural, v.Get("status"))
		}
		if code, v := servertest.Send(t, s, http.MethodGet, "/apis/example.org/v1/"+plural, ""); code != http.StatusOK {
			t.Errorf("%s are not served: %d %v", plural, code, v)
		}
	}
}
