package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/value"
)

// TestRestore begins with what another server had, a definition and its objects among it.
func TestRestore(t *testing.T) {
	t.Parallel()
	from := startServer(t, server.Config{})
	configure(t, from, definitionsURL, definition("firsts"))
	configure(t, from, "/apis/example.org/v1/namespaces/default/firsts", `{"apiVersion": "example.org/v1", "kind": "Kfirsts", "metadata": {"name": "a"}}`)
	configure(t, from, mapsPath+"?fieldManager=somebody", `{"metadata": {"name": "m"}, "data": {"a": "b"}}`)
	configure(t, from, "/api/v1/namespaces/default/services", `{"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}`)
	request(t, from, http.MethodPatch, "/api/v1/namespaces/default/services/s/status", `{"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}`)
	paths := []string{
		definitionsURL + "/firsts.example.org", "/apis/example.org/v1/namespaces/default/firsts/a", mapsPath + "/m",
		"/api/v1/namespaces/default/services/s",
	}
	var objects, want []value.Value
	for _, path := range paths {
		code, v := request(t, from, http.MethodGet, path, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %v", path, code, v)
		}
		objects = append(objects, v)
		want = append(want, withoutVersion(v))
	}
	to := startServer(t, server.Config{Objects: objects})
	for i, path := range paths {
		if _, v := request(t, to, http.MethodGet, path, ""); !withoutVersion(v).Equal(want[i]) {
			t.Errorf("%s: %v, want %v", path, v, want[i])
		}
	}
	// Without a status, a definition that is the last object is given one, too.
	last, err := value.Parse([]byte(definition("lasts")))
	if err != nil {
		t.Fatal(err)
	}
	alone := startServer(t, server.Config{Objects: []value.Value{last.With("metadata", last.Get("metadata").With("resourceVersion", value.String("1")))}})
	if _, v := request(t, alone, http.MethodGet, definitionsURL+"/lasts.example.org", ""); v.Get("status", "acceptedNames", "plural").Str() != "lasts" {
		t.Errorf("the last definition is %v", v)
	}
	_, v := request(t, to, http.MethodPatch, mapsPath+"/m?fieldManager=other", `{"data": {"a": "c"}}`)
	if text := v.Get("metadata", "managedFields").String(); !strings.Contains(text, "somebody") || strings.Contains(text, "deed-apiserver") {
		t.Errorf("its fields are managed by %s", text)
	}
}

func withoutVersion(v value.Value) value.Value {
	return v.With("metadata", v.Get("metadata").With("resourceVersion", value.Value{}))
}
