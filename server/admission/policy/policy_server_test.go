package policy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

const registration = "/apis/admissionregistration.k8s.io/v1/"

// TestPolicies lets one policy fill in a label and another refuse what has no owner: as soon as their bindings are written, and until these
// are gone.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, server.Config{})
	const rules = `"matchConstraints": {"resourceRules": [{"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
		"resources": ["configmaps"]}]}`
	servertest.Create(t, s, registration+"mutatingadmissionpolicies", `{"metadata": {"name": "fill"}, "spec": {`+rules+`,
		"reinvocationPolicy": "Never", "mutations": [{"patchType": "ApplyConfiguration",
		"applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'filled': 'in'}}}"}}]}}`)
	servertest.Create(t, s, registration+"validatingadmissionpolicies", `{"metadata": {"name": "owned"}, "spec": {`+rules+`,
		"validations": [{"expression": "has(object.data) && 'owner' in object.data", "message": "who owns it?", "reason": "Forbidden"}]}}`)
	servertest.Create(t, s, registration+"mutatingadmissionpolicybindings", `{"metadata": {"name": "fill"}, "spec": {"policyName": "fill"}}`)
	code, unbound := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "u"}}`)
	if code != 201 || unbound.Get("metadata", "labels", "filled").Str() != "in" {
		t.Errorf("before the second binding: %d %v", code, unbound)
	}
	servertest.Create(t, s, registration+"validatingadmissionpolicybindings",
		`{"metadata": {"name": "owned"}, "spec": {"policyName": "owned", "validationActions": ["Deny"]}}`)
	code, refused := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}}`)
	if want := `ValidatingAdmissionPolicy 'owned' with binding 'owned' denied request: who owns it?`; code != 403 || !strings.Contains(refused.Get("message").Str(), want) {
		t.Errorf("%d %v, want %s", code, refused, want)
	}
	servertest.Send(t, s, http.MethodDelete, registration+"validatingadmissionpolicybindings/owned", "")
	if code, v := servertest.Send(t, s, http.MethodPost, servertest.MapsPath, `{"metadata": {"name": "m"}}`); code != 201 {
		t.Errorf("without the binding: %d %v", code, v)
	}
}

// TestConnectionsHaveNoOptions reads the options of a connection in a policy: they are null, as in kube-apiserver.
func TestConnectionsHaveNoOptions(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, server.Config{})
	servertest.Create(t, s, "/api/v1/namespaces/default/pods", `{"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}`)
	servertest.Create(t, s, registration+"validatingadmissionpolicies", `{"metadata": {"name": "none"}, "spec": {
		"matchConstraints": {"resourceRules": [{"operations": ["CONNECT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/proxy"]}]},
		"validations": [{"expression": "false", "messageExpression": "string(request.options == null) + ' ' + object.kind"}]}}`)
	servertest.Create(t, s, registration+"validatingadmissionpolicybindings",
		`{"metadata": {"name": "none"}, "spec": {"policyName": "none", "validationActions": ["Deny"]}}`)
	code, refused := servertest.Send(t, s, http.MethodGet, "/api/v1/namespaces/default/pods/p/proxy/", "")
	if message := refused.Get("message").Str(); code != 422 || !strings.HasSuffix(message, "denied request: true PodProxyOptions") {
		t.Errorf("%d %s", code, message)
	}
}
