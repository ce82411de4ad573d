package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

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

// TestRequests counts requests by what is served, whatever clients write into paths.
func TestRequests(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{"GET", "/api/v1/namespaces/a/pods/x", `resource="pods",scope="resource",subresource="",verb="GET",version="v1"`},
		{"HEAD", "/api/v1/pods", `resource="pods",scope="cluster",subresource="",verb="LIST",version="v1"`},
		{"GET", "/api/v1/namespaces/a/pods", `resource="pods",scope="namespace",subresource="",verb="LIST",version="v1"`},
		{"POST", "/api/v1/namespaces/a/pods", `resource="pods",scope="namespace",subresource="",verb="POST",version="v1"`},
		{"PUT", "/api/v1/namespaces/a/pods/x/status", `resource="pods",scope="resource",subresource="status",verb="PUT",version="v1"`},
		{"PATCH", "/api/v1/namespaces/a/pods/x/any", `resource="pods",scope="resource",subresource="other",verb="PATCH",version="v1"`},
		{"DELETE", "/api/v1/namespaces/a/pods", `resource="pods",scope="namespace",subresource="",verb="DELETECOLLECTION",version="v1"`},
		{"OPTIONS", "/api/v1/namespaces/a/pods", `resource="pods",scope="namespace",subresource="",verb="other",version="v1"`},
		{"GET", "/api/v2/namespaces/a/pods/x", `resource="",scope="",subresource="",verb="GET",version=""`},
		{"GET", "/api/v1/any", `resource="",scope="",subresource="",verb="LIST",version=""`},
		{"GET", "/any", `resource="",scope="",subresource="",verb="GET",version=""`},
		{"POST", "/any", `resource="",scope="",subresource="",verb="other",version=""`},
	} {
		m := metrics.New(&metrics.InFlight{})
		info := request.NewInfo(httptest.NewRequest(c.method, c.path, nil))
		running := m.Begin(info, served())
		if got := shown(m); strings.Contains(got, "request_total{") {
			t.Errorf("%s %s is counted before it ends: %s", c.method, c.path, got)
		}
		running.End(201)
		m.Begin(info, served()).End(201)
		m.Begin(info, served()).End(404)
		got := shown(m)
		for _, line := range []string{
			`request_total{code="201",group="",` + c.want + "} 2\n",
			`request_total{code="404",group="",` + c.want + "} 1\n",
			`request_duration_seconds_count{group="",` + c.want + "} 3\n",
		} {
			if !strings.Contains(got, line) {
				t.Errorf("%s %s: there is no line %sin\n%s", c.method, c.path, line, got)
			}
		}
		if strings.Contains(got, "longrunning_requests{") {
			t.Errorf("%s %s is a watch: %s", c.method, c.path, got)
		}
	}
	metrics.Running{}.End(200) // which counts nothing
}

// TestWatches counts watches while they run, and not how long.
func TestWatches(t *testing.T) {
	m := metrics.New(&metrics.InFlight{})
	info := request.NewInfo(httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=1", nil))
	const labels = `group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} `
	first, second := m.Begin(info, served()), m.Begin(info, served())
	if got := shown(m); !strings.Contains(got, "longrunning_requests{"+labels+"2\n") {
		t.Errorf("two watches run: %s", got)
	}
	first.End(200)
	second.End(200)
	got := shown(m)
	if !strings.Contains(got, "longrunning_requests{"+labels+"0\n") || !strings.Contains(got, `request_total{code="200",`+labels+"2\n") ||
		strings.Contains(got, "request_duration") {
		t.Errorf("two watches have ended: %s", got)
	}
}

// TestInFlight shows counts that others keep, and requests that exceed a limit.
func TestInFlight(t *testing.T) {
	flight := &metrics.InFlight{}
	m := metrics.New(flight)
	flight.Reading.Add(1)
	flight.Writing.Add(2)
	flight.Exempt.Add(3)
	m.Reject(request.NewInfo(httptest.NewRequest(http.MethodGet, "/", nil)))
	m.Reject(request.NewInfo(httptest.NewRequest(http.MethodPut, "/", nil)))
	m.Reject(request.NewInfo(httptest.NewRequest(http.MethodPut, "/", nil)))
	v := served().Lookup("", "pods").Versions[0]
	m.Refuse(v, kerrors.NewConflict(kschema.GroupResource{}, "x", errors.New("no")))
	m.Refuse(v, kerrors.NewAlreadyExists(kschema.GroupResource{}, "x"))
	m.Panics.Inc()
	got := shown(m)
	for _, line := range []string{
		`current_inflight_requests{request_kind="readOnly"} 1`, `current_inflight_requests{request_kind="mutating"} 2`,
		`current_inflight_requests{request_kind="exempt"} 3`, `rejected_requests_total{request_kind="readOnly"} 1`,
		`rejected_requests_total{request_kind="mutating"} 2`, `conflicts_total{group="",resource="pods",version="v1"} 1`, `panics_total 1`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("there is no line %s in\n%s", line, got)
		}
	}
}

// TestStore counts the operations of a store, and does them.
func TestStore(t *testing.T) {
	m := metrics.New(&metrics.InFlight{})
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
