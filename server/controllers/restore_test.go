package controllers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestRestore begins with what another server had, a definition and its objects among it.
func TestRestore(t *testing.T) {
	t.Parallel()
	from := servertest.Start(t, server.Config{})
	servertest.Create(t, from, servertest.DefinitionsPath, servertest.Definition("firsts"))
	servertest.Create(t, from, "/apis/example.org/v1/namespaces/default/firsts", `{"apiVersion": "example.org/v1", "kind": "Kfirsts", "metadata": {"name": "a"}}`)
	servertest.Create(t, from, servertest.MapsPath+"?fieldManager=somebody", `{"metadata": {"name": "m"}, "data": {"a": "b"}}`)
	servertest.Create(t, from, "/api/v1/namespaces/default/services", `{"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}`)
	servertest.Send(t, from, http.MethodPatch, "/api/v1/namespaces/default/services/s/status", `{"status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}`)
	paths := []string{
		servertest.DefinitionsPath + "/firsts.example.org", "/apis/example.org/v1/namespaces/default/firsts/a", servertest.MapsPath + "/m",
		"/api/v1/namespaces/default/services/s",
	}
	var objects, want []value.Value
	for _, path := range paths {
		code, v := servertest.Send(t, from, http.MethodGet, path, "")
		if code != http.StatusOK {
			t.Fatalf("%s: %d %v", path, code, v)
		}
		objects = append(objects, v)
		want = append(want, withoutVersion(v))
	}
	to := servertest.Start(t, server.Config{Objects: objects})
	for i, path := range paths {
		if _, v := servertest.Send(t, to, http.MethodGet, path, ""); !withoutVersion(v).Equal(want[i]) {
			t.Errorf("%s: %v, want %v", path, v, want[i])
		}
	}
	// Without a status, a definition that is the last object is given one, too.
	last, err := value.Parse([]byte(servertest.Definition("lasts")))
	if err != nil {
		t.Fatal(err)
	}
	alone := servertest.Start(t, server.Config{Objects: []value.Value{last.With("metadata", last.Get("metadata").With("resourceVersion", value.String("1")))}})
	if _, v := servertest.Send(t, alone, http.MethodGet, servertest.DefinitionsPath+"/lasts.example.org", ""); v.Get("status", "acceptedNames", "plural").Str() != "lasts" {
		t.Errorf("the last definition is %v", v)
	}
	_, v := servertest.Send(t, to, http.MethodPatch, servertest.MapsPath+"/m?fieldManager=other", `{"data": {"a": "c"}}`)
	if text := v.Get("metadata", "managedFields").String(); !strings.Contains(text, "somebody") || strings.Contains(text, "deed-apiserver") {
		t.Errorf("its fields are managed by %s", text)
	}
}

func withoutVersion(v value.Value) value.Value {
	return v.With("metadata", v.Get("metadata").With("resourceVersion", value.Value{}))
}
