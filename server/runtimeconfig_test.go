package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestRuntimeConfig starts servers with versions switched on and off, and looks for them in discovery.
func TestRuntimeConfig(t *testing.T) {
	const claims, claimsV1beta1 = "/apis/resource.k8s.io/v1/resourceclaims", "/apis/resource.k8s.io/v1beta1/resourceclaims"
	for _, c := range []struct {
		config          map[string]bool
		served, missing []string
	}{
		{nil, []string{claims}, []string{claimsV1beta1}},
		{map[string]bool{"resource.k8s.io/v1beta1": true}, []string{claims, claimsV1beta1}, []string{"/apis/resource.k8s.io/v1beta2/resourceclaims"}},
		{map[string]bool{"resource.k8s.io/v1beta1/deviceclasses": true}, []string{"/apis/resource.k8s.io/v1beta1/deviceclasses"}, []string{claimsV1beta1}},
		{map[string]bool{"api/beta": true}, []string{claims, claimsV1beta1, "/apis/coordination.k8s.io/v1beta1/leasecandidates"},
			[]string{"/apis/coordination.k8s.io/v1alpha2/leasecandidates"}},
		{map[string]bool{"api/all": true, "api/alpha": false, "resource.k8s.io/v1": false}, []string{claimsV1beta1}, []string{claims, "/apis/resource.k8s.io/v1alpha3/devicetaintrules"}},
		{map[string]bool{"api/all": false, "batch/v1": true}, []string{"/apis/batch/v1/jobs", "/api/v1/pods", "/api/v1/namespaces", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"},
			[]string{claims, "/apis/apps/v1/deployments"}},
		{map[string]bool{"apps/v1/deployments": false}, []string{"/apis/apps/v1/replicasets"}, []string{"/apis/apps/v1/deployments"}},
	} {
		s := servertest.New(t, server.Config{Authenticate: asAdmin, RuntimeConfig: c.config})
		for code, paths := range map[int][]string{http.StatusOK: c.served, http.StatusNotFound: c.missing} {
			for _, path := range paths {
				if w := servertest.Ask(s, "GET "+path, ""); w.Code != code {
					t.Errorf("%v: %s answers %d, not %d", c.config, path, w.Code, code)
				}
			}
		}
	}
}

// TestVersionsOff starts servers without one version each, and uses what is left. It cannot do without some versions.
func TestVersionsOff(t *testing.T) {
	versions := []string{"api/ga", "api/v1"}
	_, groups := servertest.Send(t, servertest.New(t, server.Config{Authenticate: asAdmin}), http.MethodGet, "/apis", "")
	for group := range groups.Get("groups").Items() {
		if group.Get("name").Str() == "example.org" {
			continue // a custom resource
		}
		for version := range group.Get("versions").Items() {
			versions = append(versions, version.Get("groupVersion").Str())
		}
	}
	var needed []string
	for _, version := range versions {
		c := server.Config{
			Authenticate: asAdmin, RBAC: true, Controllers: []string{"*"}, EnableAdmissionPlugins: server.AdmissionPlugins(), PriorityAndFairness: true,
			RuntimeConfig: map[string]bool{version: false, "api/beta": true},
		}
		if err := builtin.RuntimeConfig(c.RuntimeConfig).Check(); err != nil {
			needed = append(needed, version)
			continue
		}
		s := servertest.New(t, c)
		for _, request := range []string{
			"GET /apis", "GET /openapi/v2", "POST /api/v1/namespaces" + servertest.JSON, "POST /api/v1/namespaces/default/configmaps" + servertest.JSON,
			"POST /apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers" + servertest.JSON,
			"POST /apis/resource.k8s.io/v1beta1/deviceclasses" + servertest.JSON, "GET /apis/resource.k8s.io/v1beta1/deviceclasses",
			"DELETE /api/v1/namespaces/a",
		} {
			body := ""
			if strings.HasPrefix(request, "POST") {
				body = `{"metadata":{"name":"a"},"spec":{"maxReplicas":1,"scaleTargetRef":{"kind":"a","name":"a"}}}`
			}
			if w := servertest.Ask(s, request, body); w.Code >= 500 {
				t.Errorf("without %s, %s: %d %s", version, request, w.Code, w.Body)
			}
		}
	}
	if len(needed) != 6 {
		t.Errorf("the server cannot do without %q", needed)
	}
}

// TestWrongRuntimeConfig refuses keys that mean nothing.
func TestWrongRuntimeConfig(t *testing.T) {
	const keys = "keys are api/all, api/ga, api/beta, api/alpha, GROUP/VERSION and GROUP/VERSION/RESOURCE, and the core group is api"
	for want, config := range map[string]map[string]bool{
		"runtime-config: api/all=false needs keys of what is served":                       {"api/all": false},
		"runtime-config: invalid key v1: " + keys:                                          {"v1": true},
		"runtime-config: invalid key a/b/c/d: " + keys:                                     {"a/b/c/d": true, "api/all": false},
		"runtime-config: groups of example.org/v1, nope/v2 are not known":                  {"nope/v2": true, "example.org/v1/pods": false},
		"runtime-config: version apps/v3 is not known":                                     {"apps/v3": true},
		"runtime-config: invalid key apps/v1/Jobs: resources have lower-case plural names": {"apps/v1/Jobs": true},
		"runtime-config: api/v1/pods=false: the server itself works with api/v1":           {"api/v1/pods": false},
	} {
		if _, err := server.New(server.Config{RuntimeConfig: config}); err == nil || err.Error() != want {
			t.Errorf("%v: %v, not %s", config, err, want)
		}
	}
}
