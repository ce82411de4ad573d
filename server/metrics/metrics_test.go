package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// served has pods only.
func served() *catalog.Catalog {
	pods := &catalog.Resource{Plural: "pods", Namespaced: true}
	pods.Versions = []*catalog.Version{{Resource: pods, Name: "v1"}}
	return catalog.New(pods)
}

// shown returns the lines of the metrics whose names begin with apiserver_ and do not end with _bucket or _sum.
func shown(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	var lines []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "apiserver_") && !strings.Contains(line, "_bucket{") && !strings.Contains(line, "_sum{") {
			lines = append(lines, strings.TrimPrefix(line, "apiserver_"))
		}
	}
	return strings.Join(lines, "")
}

// lacks returns the lines that the metrics do not show.
func lacks(m *metrics.Metrics, lines ...string) string {
	got := shown(m)
	for _, line := range lines {
		if !strings.Contains("\n"+got, "\n"+line+"\n") {
			return line + " in\n" + got
		}
	}
	return ""
}

// begun returns a request that a handler begins to serve.
func begun(m *metrics.Metrics, method, path string) *request.Info {
	r := httptest.NewRequest(method, path, nil)
	info := request.NewInfo(r)
	m.Begin(info, request.RouteOf(r, info, false))
	return info
}

// TestRequests counts requests that are served when they end, by their routes and codes. Requests without a route are not counted.
func TestRequests(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	first := begun(m, "GET", "/api/v1/namespaces/a/pods/x")
	if got := shown(m); strings.Contains(got, "request_total{") {
		t.Errorf("a request is counted before it ends: %s", got)
	}
	first.Waited.Add(int64(time.Hour))
	m.Served(first).End(200, 5000, time.Hour+time.Second)
	m.Served(begun(m, "GET", "/api/v1/namespaces/a/pods/y")).End(404, 100, time.Second)
	m.Served(begun(m, "POST", "/api/v1/namespaces/a/pods?dryRun=All")).End(201, 100, time.Second)
	m.Served(request.NewInfo(httptest.NewRequest("GET", "/api/v1/pods", nil))).End(403, 100, time.Second)
	const of = `component="apiserver",group="",resource="pods",scope="resource",subresource="",verb="GET",version="v1"`
	const dry = `component="apiserver",dry_run="All",group="",resource="pods",scope="resource",subresource="",verb="POST",version="v1"`
	plain := strings.Replace(of, ",group", `,dry_run="",group`, 1)
	if line := lacks(m,
		`request_total{code="200",`+plain+"} 1", `request_total{code="404",`+plain+"} 1", `request_total{code="201",`+dry+"} 1",
		"request_duration_seconds_count{"+plain+"} 2", "request_duration_seconds_count{"+dry+"} 1",
		"request_sli_duration_seconds_count{"+of+"} 2", "response_sizes_count{"+of+"} 2",
	); line != "" {
		t.Errorf("there is no line %s", line)
	}
	w := httptest.NewRecorder()
	m.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{"apiserver_request_sli_duration_seconds_sum{" + of + "} 2\n", "apiserver_response_sizes_sum{" + of + "} 5100\n"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("there is no line %s", want)
		}
	}
	if got := shown(m); strings.Contains(got, "403") || strings.Contains(got, "longrunning_requests{") || strings.Count(got, "request_sli_duration_seconds_count") != 1 {
		t.Errorf("too much is counted: %s", got)
	}
}

// TestWatches counts watches while they run, and the events that they send.
func TestWatches(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	const labels = `component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"}`
	first, second := begun(m, "GET", "/api/v1/pods?watch=1"), begun(m, "GET", "/api/v1/pods?watch=1")
	if line := lacks(m, "longrunning_requests{"+labels+" 2"); line != "" {
		t.Errorf("there is no line %s", line)
	}
	count := m.EventCounter(served().Lookup("", "pods").Versions[0])
	count(100)
	count(2000)
	m.Served(first).End(200, 2100, time.Second)
	m.Served(second).End(200, 0, time.Second)
	counted := strings.Replace(labels, ",group", `,dry_run="",group`, 1)
	if line := lacks(m,
		"longrunning_requests{"+labels+" 0", `request_total{code="200",`+counted+" 2", "request_duration_seconds_count{"+counted+" 2",
		"response_sizes_count{"+labels+" 2", `watch_events_total{group="",resource="pods",version="v1"} 2`,
		`watch_events_sizes_count{group="",resource="pods",version="v1"} 2`,
	); line != "" {
		t.Errorf("there is no line %s", line)
	}
	if got := shown(m); strings.Contains(got, "request_sli_duration_seconds_count") {
		t.Errorf("the time of a watch counts: %s", got)
	}
}

// TestInFlight shows counts that others keep, and requests that exceed a limit.
func TestInFlight(t *testing.T) {
	flight := &metrics.InFlight{}
	m := metrics.New(flight, served)
	flight.Reading.Add(1)
	flight.Writing.Add(2)
	flight.ExemptReading.Add(10)
	flight.ExemptWriting.Add(20)
	for _, line := range []string{"GET /", "PUT /odd", "PUT /api/v1/namespaces/a/pods/x", "GET /api/v1/odd"} {
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequest(method, path, nil)
		m.Reject(r, request.NewInfo(r))
	}
	v := served().Lookup("", "pods").Versions[0]
	m.Refuse(v, kerrors.NewConflict(kschema.GroupResource{}, "x", errors.New("no")))
	m.Refuse(v, kerrors.NewAlreadyExists(kschema.GroupResource{}, "x"))
	m.Panics.Inc()
	m.CountDeprecated(request.Route{Group: "g", Version: "v1", Resource: "r", Subresource: "status"}, "1.40")
	if line := lacks(m,
		`current_inflight_requests{request_kind="readOnly"} 11`, `current_inflight_requests{request_kind="mutating"} 22`,
		`rejected_requests_total{request_kind="readOnly"} 2`, `rejected_requests_total{request_kind="mutating"} 2`,
		`conflicts_total{group="",resource="pods",version="v1"} 1`, `panics_total 1`,
		`request_total{code="429",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="GET",version=""} 2`,
		`request_total{code="429",component="apiserver",dry_run="",group="",resource="",scope="",subresource="",verb="PUT",version=""} 1`,
		`request_total{code="429",component="apiserver",dry_run="",group="",resource="pods",scope="resource",subresource="",verb="PUT",version="v1"} 1`,
		`requested_deprecated_apis{group="g",removed_release="1.40",resource="r",subresource="status",version="v1"} 1`,
	); line != "" {
		t.Errorf("there is no line %s", line)
	}
	if got := shown(m); strings.Contains(got, "request_duration_seconds_count") {
		t.Errorf("the time of a rejected request counts: %s", got)
	}
}

// TestSteps counts steps of admission.
func TestSteps(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	for range 2 {
		m.Admit(admission.Step{Type: "admit", Operation: admission.Create}, time.Second)
	}
	m.Admit(admission.Step{Type: "validate", Operation: admission.Delete, Rejected: true}, time.Second)
	if line := lacks(m,
		`admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="admit"} 2`,
		`admission_step_admission_duration_seconds_count{operation="DELETE",rejected="true",type="validate"} 1`,
	); line != "" {
		t.Errorf("there is no line %s", line)
	}
}

// TestWebhookCalls counts what came of calls of webhooks.
func TestWebhookCalls(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	for _, c := range []webhook.Call{
		{Mutating: true, Code: 200},
		{Outcome: webhook.Denied, Code: 4000, Rejected: true},
		{Outcome: webhook.Failed, Code: 503, Rejected: true},
		{Outcome: webhook.Failed, Code: 503},
		{Outcome: webhook.Cancelled, Code: 500, Rejected: true},
		{Outcome: webhook.Cancelled, Code: 500},
		{Outcome: webhook.Faulty, Rejected: true},
	} {
		c.Hook, c.Operation, c.Took = "h", admission.Create, time.Second
		m.CallWebhook(c)
	}
	if line := lacks(m,
		`admission_webhook_admission_duration_seconds_count{name="h",operation="CREATE",rejected="false",type="admit"} 1`,
		`admission_webhook_admission_duration_seconds_count{name="h",operation="CREATE",rejected="true",type="validating"} 4`,
		`admission_webhook_admission_duration_seconds_count{name="h",operation="CREATE",rejected="false",type="validating"} 2`,
		`admission_webhook_request_total{code="200",name="h",operation="CREATE",rejected="false",type="admit"} 1`,
		`admission_webhook_request_total{code="600",name="h",operation="CREATE",rejected="true",type="validating"} 1`,
		`admission_webhook_rejection_count{error_type="no_error",name="h",operation="CREATE",rejection_code="600",type="validating"} 1`,
		`admission_webhook_rejection_count{error_type="calling_webhook_error",name="h",operation="CREATE",rejection_code="503",type="validating"} 1`,
		`admission_webhook_rejection_count{error_type="apiserver_internal_error",name="h",operation="CREATE",rejection_code="0",type="validating"} 1`,
		`admission_webhook_fail_open_count{name="h",type="validating"} 1`,
	); line != "" {
		t.Errorf("there is no line %s", line)
	}
	if n := strings.Count(shown(m), "admission_webhook_rejection_count{"); n != 3 {
		t.Errorf("%d outcomes are rejections, want 3", n)
	}
}

// TestStore counts the operations of a store, and does them.
func TestStore(t *testing.T) {
	m := metrics.New(&metrics.InFlight{}, served)
	memory := memory.New()
	defer memory.Close()
	s := m.Store(memory)
	ctx := t.Context()
	revision, err := s.Put(ctx, "/a/x", []byte("1"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, "/a/x", []byte("2"), revision+9); err == nil {
		t.Error("a put that expects another revision succeeds")
	}
	if r, err := s.Get(ctx, "/a/x", 0); err != nil || string(r.Text) != "1" {
		t.Errorf("the record is %s (error %v)", r.Text, err)
	}
	if page, err := s.Range(ctx, store.Range{Prefix: "/a/"}); err != nil || len(page.Records) != 1 {
		t.Errorf("the page is %v (error %v)", page, err)
	}
	watching, stop := context.WithCancel(ctx)
	batches, err := s.Watch(watching, "/a/", revision)
	if err != nil {
		t.Fatal(err)
	}
	if batch, err := s.Since(ctx, "/a/", revision); err != nil || len(batch.Events) != 0 {
		t.Errorf("since then there was %v (error %v)", batch, err)
	}
	if _, err := s.Delete(ctx, "/a/x", revision); err != nil {
		t.Error(err)
	}
	for batch, err := range batches {
		if err != nil || len(batch.Events) == 0 {
			continue
		}
		if !strings.Contains(shown(m), "storage_watches 1\n") {
			t.Error("no watch is counted while one runs")
		}
		break
	}
	stop()
	got := shown(m)
	for _, line := range []string{
		`{failed="false",operation="put"} 1`, `{failed="true",operation="put"} 1`, `{failed="false",operation="get"} 1`,
		`{failed="false",operation="range"} 1`, `{failed="false",operation="watch"} 1`, `{failed="false",operation="since"} 1`,
		`{failed="false",operation="delete"} 1`,
	} {
		if !strings.Contains(got, "storage_operations_total"+line+"\n") {
			t.Errorf("there is no line %s in\n%s", line, got)
		}
	}
	if n := slices.Collect(strings.Lines(got)); !slices.Contains(n, "storage_watches 0\n") {
		t.Errorf("a watch that ended is counted:\n%s", got)
	}
}
