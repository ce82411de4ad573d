package podsecurity_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestMetrics creates pods that meet the standards of their namespace and pods that do not. The metrics count each evaluation.
func TestMetrics(t *testing.T) {
	s := servertest.New(t, server.Config{EnableAdmissionPlugins: []string{"PodSecurity"}})
	send := func(want int, path, body string) {
		t.Helper()
		if code, answer := servertest.Send(t, s, "POST", "/api/v1/namespaces"+path, body); code != want {
			t.Fatalf("POST %s: %d %s", path, code, answer)
		}
	}
	send(http.StatusCreated, "", `{"metadata":{"name":"n","labels":{"pod-security.kubernetes.io/enforce":"baseline","pod-security.kubernetes.io/warn":"restricted"}}}`)
	send(http.StatusCreated, "/n/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	send(http.StatusForbidden, "/n/pods", `{"metadata":{"name":"b"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`)
	send(http.StatusCreated, "/default/pods", `{"metadata":{"name":"a"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`)
	text := servertest.Ask(s, "GET /metrics", "").Body.String()
	for _, line := range []string{
		`evaluations_total{decision="allow",mode="enforce",policy_level="baseline",policy_version="latest",request_operation="create",resource="pod",subresource=""} 1`,
		`evaluations_total{decision="deny",mode="enforce",policy_level="baseline",policy_version="latest",request_operation="create",resource="pod",subresource=""} 1`,
		`evaluations_total{decision="deny",mode="warn",policy_level="restricted",policy_version="latest",request_operation="create",resource="pod",subresource=""} 1`,
		`evaluations_total{decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",request_operation="create",resource="pod",subresource=""} 1`,
	} {
		if !strings.Contains(text, "pod_security_"+line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}
