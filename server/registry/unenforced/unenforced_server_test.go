package unenforced_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// TestUnenforced writes objects that a kube-apiserver obeys and this server does not: each write warns of it, a deletion does not, and a
// server that begins with such objects logs it.
func TestUnenforced(t *testing.T) {
	objects := memory.New()
	off := []string{"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"}
	s := servertest.New(t, server.Config{Store: objects, DisableAdmissionPlugins: off})
	const policies = "/apis/admissionregistration.k8s.io/v1/"
	const binding = `{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`
	const quota = `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"1"}}}`
	for _, c := range []struct {
		request, body string
		want          string // the warning; empty for none
	}{
		{"POST " + policies + "validatingadmissionpolicies" + servertest.JSON,
			`{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],` +
				`"resources":["configmaps"]}]},"validations":[{"expression":"false"}]}}`, "ValidatingAdmissionPolicies"},
		{"POST " + policies + "validatingadmissionpolicybindings?dryRun=All" + servertest.JSON, binding, "ValidatingAdmissionPolicies"},
		{"POST " + policies + "validatingadmissionpolicybindings" + servertest.JSON, binding, "ValidatingAdmissionPolicies"},
		{"PATCH " + policies + "validatingadmissionpolicies/p" + servertest.MergePatch, `{"metadata":{"labels":{"a":"b"}}}`, "ValidatingAdmissionPolicies"},
		{"PATCH " + policies + "mutatingadmissionpolicybindings/m?fieldManager=ci" + servertest.ApplyPatch,
			`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicyBinding","metadata":{"name":"m"},"spec":{"policyName":"p"}}`,
			"MutatingAdmissionPolicies"},
		{"POST " + servertest.Core + "namespaces/default/resourcequotas" + servertest.JSON, quota, "ResourceQuotas"},
		{"POST " + servertest.Core + "namespaces/default/limitranges" + servertest.JSON,
			`{"metadata":{"name":"l"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}}]}}`, "LimitRanges"},
		{"GET " + policies + "validatingadmissionpolicies/p", "", ""},
		{"DELETE " + policies + "validatingadmissionpolicies/p", "", ""},
		{"POST " + servertest.Core + "namespaces/default/configmaps" + servertest.JSON, `{"metadata":{"name":"c"}}`, ""}, // which no policy keeps out
	} {
		w := servertest.Ask(s, c.request, c.body)
		if w.Code >= http.StatusBadRequest {
			t.Errorf("%s: %d %s", c.request, w.Code, w.Body)
		}
		got := strings.Join(w.Header()["Warning"], "")
		if want := "this server stores " + c.want + " but does not enforce them"; c.want == "" && got != "" || c.want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: the warning is %q, want %q", c.request, got, c.want)
		}
	}
	var log bytes.Buffer
	servertest.New(t, server.Config{Store: objects, DisableAdmissionPlugins: off, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, resource := range []string{"validatingadmissionpolicybindings", "mutatingadmissionpolicybindings", "limitranges", "resourcequotas"} {
		if !strings.Contains(log.String(), "not enforced\" resource="+resource) {
			t.Errorf("the log does not name %s:\n%s", resource, &log)
		}
	}
	if strings.Contains(log.String(), "validatingadmissionpolicies.") {
		t.Errorf("the log names policies, of which none is stored:\n%s", &log)
	}
}
