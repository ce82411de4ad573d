package conformance_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/etcd"
	"github.com/deed-project/deed/value"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

const (
	group       = "/apis/example.org/v1/"
	things      = group + "namespaces/default/widgets"
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// serve starts a server on a cluster of etcd, which ends with the test.
func serve(t testing.TB, endpoints []string) *server.Server {
	t.Helper()
	objects := open(t, endpoints)
	s, err := server.New(server.Config{Store: objects, Shared: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func three(t *testing.T, endpoints []string) [3]*server.Server {
	var servers [3]*server.Server
	for i := range servers {
		servers[i] = serve(t, endpoints)
	}
	return servers
}

func ask(s http.Handler, request, body string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// must sends a request that succeeds, and returns the answer.
func must(t *testing.T, s http.Handler, request, body string) value.Value {
	t.Helper()
	w := ask(s, request, body)
	if w.Code >= 300 {
		t.Fatalf("%s: %d %s", request, w.Code, w.Body)
	}
	v, err := value.Parse(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// until waits until a request is answered with a code, and returns how long that took.
func until(t *testing.T, s http.Handler, request, body string, code int) time.Duration {
	t.Helper()
	begun := time.Now()
	for {
		w := ask(s, request, body)
		if w.Code == code {
			return time.Since(begun)
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%s: %d, and not %d: %s", request, w.Code, code, w.Body)
		}
		time.Sleep(time.Millisecond)
	}
}

// widgets returns the definition of widgets.
func widgets(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../apitest/testdata/widgets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Parse("widgets.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].Value.String()
}

func widget(name, more string) string {
	return fmt.Sprintf(`{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q%s},"spec":{"replicas":1}}`, name, more)
}

// Three servers on one etcd are one API: what is defined, written and configured through one holds for all.
func TestServers(t *testing.T) {
	endpoints := someEtcd(t)
	servers := three(t, endpoints)
	one, two, three := servers[0], servers[1], servers[2]

	must(t, one, "POST "+definitions, widgets(t))
	t.Logf("a definition is served by the others after %v and %v", until(t, two, "GET "+things, "", 200), until(t, three, "GET "+things, "", 200))
	if served := must(t, two, "GET /apis/example.org/v1", ""); served.Get("resources").Len() == 0 {
		t.Error("discovery does not know of it")
	}

	t.Run("writes", func(t *testing.T) { sharedWrites(t, servers) })
	t.Run("namespaces", func(t *testing.T) {
		must(t, one, "POST /api/v1/namespaces", `{"metadata":{"name":"shop"}}`)
		must(t, two, "POST "+group+"namespaces/shop/widgets", widget("web", ""))
		must(t, three, "DELETE /api/v1/namespaces/shop", "")
		until(t, one, "GET /api/v1/namespaces/shop", "", 404)
		if w := ask(two, "GET "+group+"namespaces/shop/widgets/web", ""); w.Code != 404 {
			t.Errorf("what was in the namespace: %d", w.Code)
		}
	})
	t.Run("webhooks", func(t *testing.T) {
		const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
		must(t, one, "POST "+hooks, `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"none"},
			"webhooks":[{"name":"a.example.org","clientConfig":{"url":"https://127.0.0.1:1/"},"sideEffects":"None","admissionReviewVersions":["v1"],
			"rules":[{"apiGroups":["example.org"],"apiVersions":["*"],"operations":["CREATE"],"resources":["*"]}]}]}`)
		for i, s := range []*server.Server{two, three} {
			until(t, s, "POST "+things, widget("", `,"generateName":"hooked-"`), 500)
			if i == 1 {
				must(t, s, "DELETE "+hooks+"/none", "")
			}
		}
		until(t, one, "POST "+things, widget("", `,"generateName":"free-"`), 201)
		until(t, two, "POST "+things, widget("", `,"generateName":"free-"`), 201)
	})
	t.Run("events", func(t *testing.T) {
		must(t, one, "POST /api/v1/namespaces/default/events", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`)
		client, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		leases, err := client.Leases(t.Context())
		if err != nil || len(leases.Leases) != 1 {
			t.Errorf("%v leases, %v", leases, err)
		}
		must(t, two, "GET /api/v1/namespaces/default/events/e", "")
	})
	t.Run("deletion of a definition", func(t *testing.T) {
		latest := must(t, three, "GET "+things, "").Get("metadata", "resourceVersion").Str()
		ended := make(chan string)
		go func() { ended <- ask(three, "GET "+things+"?watch=true&resourceVersion="+latest, "").Body.String() }()
		must(t, two, "DELETE "+definitions+"/widgets.example.org", "")
		until(t, one, "GET "+things, "", 404)
		until(t, three, "GET "+things, "", 404)
		if events := <-ended; strings.Count(events, `"DELETED"`) == 0 || strings.Contains(events, "ERROR") {
			t.Errorf("a watch of what was defined ended with %q", events)
		}
	})
}

// sharedWrites checks that a write through one server is read and watched through the others, and conflicts with what they write.
func sharedWrites(t *testing.T, servers [3]*server.Server) {
	latest := must(t, servers[2], "GET "+things, "").Get("metadata", "resourceVersion").Str()
	port := httptest.NewServer(servers[2])
	defer port.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, port.URL+things+"?watch=true&resourceVersion="+latest, nil)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()

	created := must(t, servers[0], "POST "+things, widget("web", ""))
	read := must(t, servers[1], "GET "+things+"/web", "")
	if !read.Equal(created) {
		t.Errorf("%v was created, and %v is read", created, read)
	}
	must(t, servers[1], "PATCH "+things+"/web", `{"spec":{"replicas":2}}`)
	stale := ask(servers[2], "PUT "+things+"/web", created.String())
	if stale.Code != http.StatusConflict || !strings.Contains(stale.Body.String(), "the object has been modified") {
		t.Errorf("an update from an old version: %d %s", stale.Code, stale.Body)
	}
	if w := ask(servers[1], "POST "+things, widget("web", "")); w.Code != http.StatusConflict {
		t.Errorf("a second create: %d %s", w.Code, w.Body)
	}
	must(t, servers[2], "DELETE "+things+"/web", "")
	if w := ask(servers[0], "GET "+things+"/web", ""); w.Code != http.StatusNotFound {
		t.Errorf("after it was deleted: %d %s", w.Code, w.Body)
	}
	lines := bufio.NewScanner(watch.Body)
	for _, want := range []string{"ADDED", "MODIFIED", "DELETED"} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), `{"type":"`+want+`"`) {
			t.Errorf("the watch says %s, and not %s", lines.Text(), want)
		}
	}
}

// ranging is a store that counts the records that Range returns.
type ranging struct {
	store.Store
	records atomic.Int64
}

func (s *ranging) Range(ctx context.Context, r store.Range) (store.Page, error) {
	page, err := s.Store.Range(ctx, r)
	s.records.Add(int64(len(page.Records)))
	return page, err
}

// TestManyDefinitions defines twenty resources, and then four times as many: each definition reads a few records, and not all others.
func TestManyDefinitions(t *testing.T) {
	objects := &ranging{Store: etcd.New(v3client.New(start(t).Server), etcd.Registry("/registry"), time.Now)}
	s, err := server.New(server.Config{Store: objects, Shared: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	defined := 0
	define := func(n int) (records int64) {
		before := objects.records.Load()
		for range n {
			defined++
			name := fmt.Sprintf("things%d", defined)
			must(t, s, "POST "+definitions, fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
				"metadata":{"name":"%[1]s.example.org"},"spec":{"group":"example.org","scope":"Cluster",
				"names":{"plural":%[1]q,"kind":"Thing%[2]d"},"versions":[{"name":"v1","served":true,"storage":true,
				"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, name, defined))
			until(t, s, "GET "+group+name, "", http.StatusOK)
		}
		return objects.records.Load() - before
	}
	few, many := define(20), define(80)
	t.Logf("%d records for 20 definitions, %d for 80 more", few, many)
	if many > 5*few+100 {
		t.Errorf("20 definitions read %d records, 80 more read %d", few, many)
	}
}
