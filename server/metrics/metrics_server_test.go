package metrics_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestMetrics counts requests that are served, whatever clients write into paths, and conflicts.
func TestMetrics(t *testing.T) { synctest.Test(t, testMetrics) } // a watch lasts a second

func testMetrics(t *testing.T) {
	s := servertest.Widgets(t)
	const missing = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"none","resourceVersion":"1"}}`
	for _, request := range []string{
		"POST " + servertest.Things + servertest.JSON, "POST " + servertest.Things + servertest.JSON, "GET " + servertest.Things + "/web", "GET " + servertest.Things + "/web", "GET " + servertest.Things, "GET " + servertest.Group + "widgets",
		"GET " + servertest.Core + "namespaces/default", "GET " + servertest.Things + "?watch=1&timeoutSeconds=1", "DELETE " + servertest.Things, "PATCH " + servertest.Things + "/none/status" + servertest.MergePatch,
		"GET " + servertest.Things + "/web/odd", "GET /apis/example.org/v7/widgets", "GET /apis/odd/v1/odd", "GET /odd", "PUT /odd", "OPTIONS " + servertest.Things,
	} {
		body := servertest.Web
		if strings.HasPrefix(request, "DELETE") {
			body = ""
		}
		servertest.Ask(s, request, body)
	}
	if w := servertest.Ask(s, "PUT "+servertest.Things+"/web"+servertest.JSON, strings.Replace(missing, "none", "web", 1)); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	servertest.Ask(s, "POST "+servertest.Core+"namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	if w := servertest.Ask(s, "PUT "+servertest.Core+"namespaces/default/configmaps/a", `{"metadata":{"name":"a","resourceVersion":"1"}}`); w.Code != http.StatusConflict {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	text := servertest.Ask(s, "GET /metrics", "").Body.String()
	const of = `component="apiserver",dry_run="",group="example.org",resource="widgets",`
	for _, want := range []string{
		`{code="201",` + of + `scope="resource",subresource="",verb="POST",version="v1"} 1`,
		`{code="409",` + of + `scope="resource",subresource="",verb="POST",version="v1"} 1`,
		`{code="200",` + of + `scope="resource",subresource="",verb="GET",version="v1"} 2`,
		`{code="200",` + of + `scope="namespace",subresource="",verb="LIST",version="v1"} 1`,
		`{code="200",` + of + `scope="cluster",subresource="",verb="LIST",version="v1"} 1`,
		`{code="200",` + of + `scope="namespace",subresource="",verb="WATCH",version="v1"} 1`,
		`{code="200",` + of + `scope="namespace",subresource="",verb="DELETE",version="v1"} 1`,
		`{code="404",` + of + `scope="resource",subresource="status",verb="PATCH",version="v1"} 1`,
		`{code="404",` + of + `scope="resource",subresource="",verb="PUT",version="v1"} 1`,
		`{code="200",component="apiserver",dry_run="",group="",resource="namespaces",scope="resource",subresource="",verb="GET",version="v1"} 1`,
	} {
		if !strings.Contains(text, "apiserver_request_total"+want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	for _, never := range []string{"odd", "v7", `verb="other"`, `code="405"`} {
		if strings.Contains(text, never) {
			t.Errorf("the metrics have %s", never)
		}
	}
	for _, want := range []string{
		`apiserver_conflicts_total{group="",resource="configmaps",version="v1"} 1`, `apiserver_request_duration_seconds_count{` + of + `scope="resource",subresource="",verb="GET",version="v1"} 2`,
		`apiserver_longrunning_requests{` + strings.Replace(of, `dry_run="",`, "", 1) + `scope="namespace",subresource="",verb="WATCH",version="v1"} 0`, `apiserver_storage_watches`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}
