package server_test

import (
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestPolicyStatus writes a policy with a field that no Deployment has, and corrects it: the controller warns of it, and then of nothing.
func TestPolicyStatus(t *testing.T) {
	t.Parallel()
	s := servertest.Start(t, server.Config{Controllers: []string{"validatingadmissionpolicy-status-controller"}})
	const path = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	servertest.Create(t, s, path, `{"metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": [{"operations": ["CREATE"],
		"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"]}]}, "validations": [{"expression": "object.spec.replicsa > 1"}]}}`)
	status := func(generation int64) value.Value {
		var found value.Value
		servertest.Await(t, func() bool {
			_, v := servertest.Send(t, s, "GET", path+"/p", "")
			found = v.Get("status")
			return found.Get("observedGeneration").Kind() == value.KindInt && found.Get("observedGeneration").Int() == generation
		})
		return found
	}
	const want = `{"observedGeneration":1,"typeChecking":{"expressionWarnings":[{"fieldRef":"spec.validations[0].expression",` +
		`"warning":"apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicsa'\n | object.spec.replicsa > 1\n | ...........^\n"}]}}`
	expected, err := value.Parse([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if got := status(1); !got.Equal(expected) {
		t.Errorf("the status is\n%s, want\n%s", got, want)
	}
	servertest.Send(t, s, "PATCH", path+"/p", `{"spec": {"validations": [{"expression": "object.spec.replicas > 1"}]}}`)
	if got := status(2).String(); got != `{"observedGeneration":2}` {
		t.Errorf("the status of the corrected policy is %s", got)
	}
}
