package api

import "testing"

func TestParseTarget(t *testing.T) {
	for path, want := range map[string]Target{
		"/api/v1/pods":                     {Version: "v1", Resource: "pods"},
		"/api/v1/namespaces":               {Version: "v1", Resource: "namespaces"},
		"/api/v1/namespaces/n":             {Version: "v1", Resource: "namespaces", Namespace: "n", Name: "n"},
		"/api/v1/namespaces/n/":            {Version: "v1", Resource: "namespaces", Namespace: "n", Name: "n"},
		"/api/v1/namespaces/n/finalize":    {Version: "v1", Resource: "namespaces", Namespace: "n", Name: "n", Subresource: "finalize"},
		"/api/v1/namespaces/n/pods/p/log":  {Version: "v1", Resource: "pods", Namespace: "n", Name: "p", Subresource: "log"},
		"/apis/g.io/v1/namespaces//things": {Group: "g.io", Version: "v1", Resource: "things"},
		"/apis/g.io/v1/things/x/status/more/still": {
			Group: "g.io", Version: "v1", Resource: "things", Name: "x", Subresource: "status", Rest: "more/still",
		},
		"/apis/g.io/v1/watch/namespaces/n/things": {Group: "g.io", Version: "v1", Resource: "things", Namespace: "n", Watch: true},
	} {
		if got, ok := ParseTarget(path); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
	for _, path := range []string{"/", "/api", "/api/v1", "/apis/g.io/v1", "/version", "/healthz/ping"} {
		if got, ok := ParseTarget(path); ok {
			t.Errorf("%s names %+v", path, got)
		}
	}
}
