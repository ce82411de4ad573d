package server_test

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestPluginConfiguration configures plugins as the file of --admission-control-config-file does. Codes, messages and warnings are those of
// kube-apiserver v1.37.1.
func TestPluginConfiguration(t *testing.T) {
	s := servertest.New(t, server.Config{
		Authenticate: asAdmin, PluginConfiguration: map[string][]byte{
			"PodSecurity": []byte(`
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline, enforce-version: latest, audit: restricted}
exemptions: {namespaces: [free]}
`),
			"ResourceQuota": []byte(`
apiVersion: apiserver.config.k8s.io/v1
kind: ResourceQuotaConfiguration
limitedResources:
- resource: pods
  matchContains: [requests.cpu]
  matchScopes:
  - {scopeName: PriorityClass, operator: In, values: [system-cluster-critical]}
- resource: services
  matchContains: [services.loadbalancers]
`)},
	})
	const (
		pods, services, quotas = "/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/services", "/api/v1/namespaces/default/resourcequotas"
		balancer               = `{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer","ports":[{"port":1}]}}`
		critical               = `{"metadata":{"name":"b"},"spec":{"priorityClassName":"system-cluster-critical","containers":[{"name":"c","image":"i"}]}}`
		quota                  = `{"hard":{"services.loadbalancers":"1"}}`
		scoped                 = `{"hard":{"pods":"3"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["system-cluster-critical"]}]}}`
	)
	for _, c := range []struct {
		method, path, body string
		code               int
		message, warning   string
	}{
		{"POST", "/api/v1/namespaces", `{"metadata":{"name":"free"}}`, 201, "", ""},
		{"PATCH", "/api/v1/namespaces/free", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`, 200, "",
			`namespace \"free\" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored`},
		{"POST", "/api/v1/namespaces/free/pods", `{"metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`, 201, "", ""},
		{"POST", pods, `{"metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`, 403,
			`pods "a" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, ""},
		{"POST", pods, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, 201, "", ""},
		{"POST", pods, `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`, 403,
			`pods "b" is forbidden: insufficient quota to consume: requests.cpu`, ""},
		{"POST", pods, critical, 500, `insufficient quota to match these scopes: [{PriorityClass In [system-cluster-critical]}]`, ""},
		{"POST", services, balancer, 403, `services "s" is forbidden: insufficient quota to consume: services.loadbalancers`, ""},
		{"POST", quotas, `{"metadata":{"name":"q"},"spec":` + quota + `}`, 201, "", ""},
		{"PATCH", quotas + "/q/status", `{"status":{"hard":{"services.loadbalancers":"1"},"used":{"services.loadbalancers":"0"}}}`, 200, "", ""},
		{"POST", quotas, `{"metadata":{"name":"p"},"spec":` + scoped + `}`, 201, "", ""},
		{"PATCH", quotas + "/p/status", `{"status":{"hard":{"pods":"3"},"used":{"pods":"0"}}}`, 200, "", ""},
		{"POST", services, balancer, 201, "", ""},
		{"POST", pods, critical, 201, "", ""},
		{"DELETE", quotas + "/q", "", 200, "", ""},
		{"PATCH", services + "/s", `{"metadata":{"labels":{"a":"b"}}}`, 200, "", ""}, // uses no more than before
	} {
		media := map[string]string{"POST": servertest.JSON, "PATCH": " Content-Type=application/merge-patch+json"}[c.method]
		w := servertest.Ask(s, c.method+" "+c.path+media, c.body)
		if w.Code != c.code || c.message != "" && servertest.Message(w) != c.message {
			t.Errorf("%s %s %s\n got %d %s\nwant %d %s", c.method, c.path, c.body, w.Code, servertest.Message(w), c.code, c.message)
		}
		if warned := w.Header().Values("Warning"); c.warning != "" && !slices.Contains(warned, `299 - "`+c.warning+`"`) {
			t.Errorf("%s %s warns %q, not of %s", c.method, c.path, warned, c.warning)
		}
	}
}

// TestConfiguredPlugin has a plugin on because it is configured, unless it is disabled.
func TestConfiguredPlugin(t *testing.T) {
	configured := server.Config{Authenticate: asAdmin, PluginConfiguration: map[string][]byte{
		"PodSecurity": []byte(`{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":{"enforce":"baseline"}}`)}}
	disabled := configured
	disabled.DisableAdmissionPlugins = []string{"PodSecurity"}
	for want, config := range map[int]server.Config{http.StatusForbidden: configured, http.StatusCreated: disabled} {
		pod := `{"metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`
		if w := servertest.Ask(servertest.New(t, config), "POST /api/v1/namespaces/default/pods"+servertest.JSON, pod); w.Code != want {
			t.Errorf("%d %s, not %d", w.Code, w.Body, want)
		}
	}
}

// TestWrongPluginConfiguration names the plugin whose configuration is wrong.
func TestWrongPluginConfiguration(t *testing.T) {
	for want, config := range map[string]map[string][]byte{
		"admission plugin PodSecurity: defaults.enforce: Invalid value": {
			"PodSecurity": []byte(`{"apiVersion":"pod-security.admission.config.k8s.io/v1","kind":"PodSecurityConfiguration","defaults":{"enforce":"nope"}}`)},
		"admission plugin PodSecurity: ": {"PodSecurity": []byte(`{"apiVersion":"v1","kind":"Pod"}`)},
		"admission plugin ResourceQuota: limitedResources[0].resource: Required value": {
			"ResourceQuota": []byte(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration","limitedResources":[{}]}`)},
		"admission plugin ResourceQuota: strict decoding error: unknown field": {
			"ResourceQuota": []byte(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration","nope":1}`)},
		"admission plugin Nope: the server takes no configuration for it": {"Nope": nil},
	} {
		if _, err := server.New(server.Config{PluginConfiguration: config}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, not %s", config, err, want)
		}
	}
}

// TestStartUnderLimits starts a server whose own ConfigMap is refused. It comes up, as kube-apiserver does.
func TestStartUnderLimits(t *testing.T) {
	s := servertest.New(t, server.Config{
		Authenticate: asAdmin, EnableAdmissionPlugins: []string{"ResourceQuota"}, Log: slog.New(slog.DiscardHandler), PluginConfiguration: map[string][]byte{
			"ResourceQuota": []byte(`{"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration","limitedResources":[{"resource":"configmaps","matchContains":["count/configmaps"]}]}`)},
	})
	if w := servertest.Ask(s, "GET /readyz", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := servertest.Ask(s, "POST "+servertest.MapsPath+servertest.JSON, `{"metadata":{"name":"a"}}`); w.Code != http.StatusForbidden {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
