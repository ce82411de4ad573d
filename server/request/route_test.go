package request_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/deed-project/deed/server/request"
)

// TestRouteOf names the routes of requests for resources. TestTranscripts/metrics has what a kube-apiserver counts.
func TestRouteOf(t *testing.T) {
	const pods = "/api/v1/namespaces/a/pods"
	type route = request.Route
	for _, c := range []struct {
		method, path string
		custom       bool
		want         route // without version, resource and component
	}{
		{"GET", pods + "/x", false, route{Verb: "GET", Scope: "resource", HasSize: true}},
		{"HEAD", pods + "/x", false, route{Verb: "GET", Scope: "resource", HasSize: true}},
		{"GET", pods, false, route{Verb: "LIST", Scope: "namespace", HasSize: true}},
		{"GET", "/api/v1/pods", true, route{Verb: "LIST", Scope: "cluster", HasSize: true}},
		{"GET", pods + "?fieldSelector=metadata.name%3Dx", false, route{Verb: "LIST", Scope: "namespace", HasSize: true}},
		{"GET", pods + "?fieldSelector=metadata.name%3Dx", true, route{Verb: "GET", Scope: "resource", HasSize: true}},
		{"POST", pods, false, route{Verb: "POST", Scope: "resource"}},
		{"POST", pods + "?dryRun=All&dryRun=All", false, route{Verb: "POST", Scope: "resource", DryRun: "All"}},
		{"POST", pods + "?dryRun=", false, route{Verb: "POST", Scope: "resource", DryRun: "invalid"}},
		{"PUT", pods + "/x/status", false, route{Verb: "PUT", Scope: "resource", Subresource: "status"}},
		{"PATCH", pods + "/x", false, route{Verb: "PATCH", Scope: "resource"}},
		{"DELETE", pods, false, route{Verb: "DELETE", Scope: "namespace"}},
		{"GET", pods + "?watch=1", false, route{Verb: "WATCH", Scope: "namespace", IsLong: true, IsWatch: true, HasSize: true}},
		{"GET", pods + "?watch=1", true, route{Verb: "WATCH", Scope: "namespace", IsLong: true, IsWatch: true}},
		{"GET", pods + "/x?watch=1", false, route{Verb: "WATCH", Scope: "resource", HasSize: true}},
		{"GET", "/api/v1/watch/namespaces/a/pods", false, route{Verb: "WATCH", Scope: "namespace", IsLong: true, IsWatch: true}},
		{"GET", pods + "/x/log", false, route{Verb: "CONNECT", Scope: "resource", Subresource: "log"}},
		{"POST", pods + "/x/exec", false, route{Verb: "CONNECT", Scope: "resource", Subresource: "exec", IsLong: true}},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		c.want.Version, c.want.Resource, c.want.Component = "v1", "pods", "apiserver"
		if got := request.RouteOf(r, request.NewInfo(r), c.custom); got != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.method, c.path, got, c.want)
		}
	}
	r := httptest.NewRequest(http.MethodPatch, pods+"/x", nil)
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	if got := request.RouteOf(r, request.NewInfo(r), false); got.Verb != "APPLY" {
		t.Errorf("an apply is %+v", got)
	}
}

// TestPathRoute names the routes of paths that name no resource, for any method that a client invents.
func TestPathRoute(t *testing.T) {
	for method, verb := range map[string]string{"GET": "GET", "HEAD": "GET", "POST": "POST", "OPTIONS": "other", "ODD": "other"} {
		r := httptest.NewRequest(method, "/livez", nil)
		if got, want := request.PathRoute(r, "/livez"), (request.Route{Verb: verb, Subresource: "/livez", HasSize: true}); got != want {
			t.Errorf("%s: %+v, want %+v", method, got, want)
		}
		if got, want := request.PageRoute(r, "statusz"), (request.Route{Verb: verb, Resource: "statusz", Component: "apiserver", HasSize: true}); got != want {
			t.Errorf("%s: %+v, want %+v", method, got, want)
		}
	}
}
