package metrics_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/metrics"
)

// TestHealthChecks counts checks, shows the last outcome of each, and forgets both.
func TestHealthChecks(t *testing.T) {
	h := metrics.NewHealthChecks()
	h.Observe("etcd", "readyz", false)
	h.Observe("etcd", "readyz", true)
	h.Observe("etcd", "readyz", false)
	h.Observe("ping", "livez", true)
	ask := func(method string) (text string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, "/metrics/slis", nil))
		if began := w.Header().Get("Process-Start-Time-Unix"); (began != "") != (method != http.MethodDelete) {
			t.Errorf("%s says that the process began at %q", method, began)
		}
		for line := range strings.Lines(w.Body.String()) {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "process_start_time_seconds "):
				text += "started\n"
			default:
				text += line
			}
		}
		return text
	}
	const want = `kubernetes_healthcheck{name="etcd",type="readyz"} 0
kubernetes_healthcheck{name="ping",type="livez"} 1
kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 2
kubernetes_healthchecks_total{name="etcd",status="success",type="readyz"} 1
kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1
started
`
	if got := ask(http.MethodGet); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := ask(http.MethodDelete); got != "metrics reset\n" {
		t.Errorf("got %q", got)
	}
	if got := ask(http.MethodGet); got != "started\n" {
		t.Errorf("after they were forgotten:\n%s", got)
	}
}
