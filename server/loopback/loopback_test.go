package loopback_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/loopback"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// TestSend sends requests, and reads the answers.
func TestSend(t *testing.T) {
	var seen string
	c := &loopback.Client{Timeout: time.Hour, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := request.From(r.Context())
		body, _ := io.ReadAll(r.Body)
		left := time.Until(of.Expires)
		seen = fmt.Sprint(r.Method, " ", of.Verb, " ", of.Target.Resource, " ", of.User.Name, " ", r.UserAgent(), " ", r.Header.Get("Content-Type"),
			" ", string(body), " ", left > 50*time.Minute && left <= time.Hour)
		switch of.Target.Name {
		case "missing":
			response.Writer{}.Error(w, r, errors.NewNotFound(kschema.GroupResource{Resource: "pods"}, "missing"))
		case "text":
			http.Error(w, "no Status", http.StatusBadGateway)
		case "written":
			io.WriteString(w, "ok")
		}
	})}
	object := value.Object(value.Member{Name: "a", Value: value.Int(1)})
	for _, call := range []struct {
		method, name string
		body         value.Value
		seen, err    string
	}{
		{http.MethodGet, "written", value.Value{}, "GET get pods system:apiserver kube-apiserver   true", "<nil>"},
		{http.MethodPut, "silent", object, `PUT update pods system:apiserver kube-apiserver  {"a":1} true`, "<nil>"},
		{http.MethodPatch, "written", object, `PATCH patch pods system:apiserver kube-apiserver application/merge-patch+json {"a":1} true`, "<nil>"},
		{http.MethodDelete, "missing", value.Value{}, "DELETE delete pods system:apiserver kube-apiserver   true", `pods "missing" not found`},
		{http.MethodGet, "text", value.Value{}, "GET get pods system:apiserver kube-apiserver   true", "GET /api/v1/namespaces/n/pods/text: no Status"},
	} {
		err := c.Send(t.Context(), call.method, "/api/v1/namespaces/n/pods/"+call.name, call.body)
		if seen != call.seen || fmt.Sprint(err) != call.err {
			t.Errorf("%s %s: seen is %s, the error %v\nwant %s, %s", call.method, call.name, seen, err, call.seen, call.err)
		}
		if (call.name == "missing") != (err != nil && loopback.IgnoreNotFound(err) == nil) {
			t.Errorf("%s: %v is taken for not found: %v", call.name, err, loopback.IgnoreNotFound(err))
		}
	}
	if err := c.Send(t.Context(), "no method", "/", value.Value{}); err == nil || !strings.Contains(err.Error(), "invalid method") {
		t.Errorf("a request that cannot be made: %v", err)
	}
	if loopback.IgnoreNotFound(fmt.Errorf("get: %w", store.ErrNotFound)) != nil || loopback.IgnoreNotFound(nil) != nil {
		t.Error("a record that is not there is an error")
	}
}

// TestCollectionPath names collections of both kinds of groups and scopes.
func TestCollectionPath(t *testing.T) {
	for want, v := range map[string]*catalog.Version{
		"/api/v1/namespaces/a/pods | /api/v1/namespaces/default/pods":                         {Resource: &catalog.Resource{Plural: "pods", Namespaced: true}, Name: "v1"},
		"/api/v1/nodes | /api/v1/nodes":                                                       {Resource: &catalog.Resource{Plural: "nodes"}, Name: "v1"},
		"/apis/g.io/v2/things | /apis/g.io/v2/things":                                         {Resource: &catalog.Resource{Group: "g.io", Plural: "things"}, Name: "v2"},
		"/apis/apps/v1/namespaces/a/daemonsets | /apis/apps/v1/namespaces/default/daemonsets": {Resource: &catalog.Resource{Group: "apps", Plural: "daemonsets", Namespaced: true}, Name: "v1"},
	} {
		if got := loopback.CollectionPath(v, "a") + " | " + loopback.CollectionPath(v, ""); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
