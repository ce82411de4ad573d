package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube/cluster"
)

// answers are what a cluster answers, by path. A path without an answer is one that it does not serve.
type answers map[string]string

func (a answers) get(_ context.Context, path, _ string) ([]byte, error) {
	text, ok := a[path]
	switch {
	case !ok:
		return nil, apierrors.NewGenericServerResponse(404, "get", gvkschema.GroupResource{}, "", "", 0, true)
	case text == "missing":
		return nil, apierrors.NewNotFound(gvkschema.GroupResource{Resource: "widgets"}, "web")
	case text == "forbidden":
		return nil, apierrors.NewForbidden(gvkschema.GroupResource{Resource: "widgets"}, "web", errors.New("not you"))
	}
	return []byte(text), nil
}

var widget = gvkschema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}

const widgetList = `{"resources": [{"name": "widgets", "singularName": "widget", "kind": "Widget", "namespaced": true, "shortNames": ["wd"]}, {"name": "widgets/status", "kind": "Widget"}]}`

// TestNames finds a resource by its names, with aggregated discovery and without it.
func TestNames(t *testing.T) {
	for what, a := range map[string]answers{
		"aggregated": {"/apis": `{"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "example.org"}, "versions": [
			{"version": "v1", "resources": [{"resource": "widgets", "singularResource": "widget", "scope": "Namespaced", "shortNames": ["wd"], "responseKind": {"kind": "Widget"}}]},
			{"version": "v1beta1", "resources": [{"resource": "widgets", "singularResource": "widget", "scope": "Namespaced", "responseKind": {"kind": "Widget"}}]}]}]}`},
		"plain": {"/apis": `{"kind": "APIGroupList", "groups": [{"name": "example.org", "preferredVersion": {"version": "v1"}}, {"name": "down.org", "preferredVersion": {"version": "v1"}}]}`,
			"/apis/example.org/v1": widgetList},
	} {
		for _, name := range []string{"widgets", "Widget", "wd", "widgets.example.org"} {
			got, err := cluster.New(a.get, nil).Named(t.Context(), name)
			want := []cluster.Resource{{GVK: widget, Name: "widgets", Namespaced: true}}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s is %v, %v", what, name, got, err)
			}
		}
		if got, err := cluster.New(a.get, nil).Named(t.Context(), "widgets.other.org"); err != nil || len(got) > 0 {
			t.Errorf("%s: another group has %v, %v", what, got, err)
		}
	}
}

// TestMissing tells an object that is not there from a kind that is not served.
func TestMissing(t *testing.T) {
	a := answers{"/apis/example.org/v1": widgetList, "/apis/example.org/v1/namespaces/default/widgets/web": "missing"}
	c := cluster.New(a.get, nil)
	r, err := c.Resource(t.Context(), widget)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Object(t.Context(), r, "", "web"); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is not there: %v", err)
	}
	if _, err := c.Object(t.Context(), r, "", "unread"); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is not there, for a client that does not read the response: %v", err)
	}
	for _, wrong := range [][2]string{{"", ""}, {"", ".."}, {"", "a/b"}, {"..", "web"}} {
		if text, err := c.Object(t.Context(), r, wrong[0], wrong[1]); err == nil || apierrors.IsNotFound(err) {
			t.Errorf("%q: %s, %v", wrong, text, err)
		}
	}
	var unserved *cluster.UnservedError
	deployments, err := c.Resource(t.Context(), gvkschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Object(t.Context(), deployments, "", "web"); !errors.As(err, &unserved) {
		t.Errorf("a kind that is not served: %v", err)
	}
	if _, err := c.Resource(t.Context(), gvkschema.GroupVersionKind{Group: "none.org", Version: "v1", Kind: "None"}); !errors.As(err, &unserved) {
		t.Errorf("a group that is not served: %v", err)
	}
}

// TestList reads all pages of a list.
func TestList(t *testing.T) {
	a := answers{
		"/apis/example.org/v1/widgets?limit=500":            `{"metadata": {"continue": "x"}, "items": [{"metadata": {"name": "a"}}]}`,
		"/apis/example.org/v1/widgets?continue=x&limit=500": `{"metadata": {}, "items": [{"metadata": {"name": "b"}}]}`,
	}
	all, err := cluster.New(a.get, nil).List(t.Context(), cluster.Resource{GVK: widget, Name: "widgets", Namespaced: true}, "", "")
	if err != nil || len(all) != 2 || all[1].Get("kind").Str() != "Widget" || all[1].Get("metadata", "name").Str() != "b" {
		t.Errorf("got %v, %v", all, err)
	}
}

// TestCache keeps a document by its hash, and replaces it when that changes.
func TestCache(t *testing.T) {
	folder := t.TempDir()
	a := answers{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org": "forbidden",
		"/openapi/v3/apis/example.org/v1?hash=A":                                      `{"openapi": "A"}`,
		"/openapi/v3/apis/example.org/v1?hash=B":                                      `{"openapi": "B"}`,
	}
	fetched := 0
	get := func(ctx context.Context, path, accept string) ([]byte, error) {
		if path != "/openapi/v3" && path[:8] == "/openapi" {
			fetched++
		}
		return a.get(ctx, path, accept)
	}
	for i, hash := range []string{"A", "A", "B", "B"} {
		a["/openapi/v3"] = `{"paths": {"apis/example.org/v1": {"serverRelativeURL": "/openapi/v3/apis/example.org/v1?hash=` + hash + `"}}}`
		cache := cluster.NewCache(folder, "https://server")
		cache.Failed = func(err error) { t.Error(err) }
		s, err := cluster.New(get, cache).Schema(t.Context(), cluster.Resource{GVK: widget, Name: "widgets"})
		if want := `{"openapi": "` + hash + `"}`; err != nil || string(s.Document) != want {
			t.Errorf("run %d: %s, %v", i, s.Document, err)
		}
	}
	if fetched != 2 {
		t.Errorf("%d documents are fetched, want 2", fetched)
	}
}
