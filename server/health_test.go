package server_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// ailing is a store that cannot be read while it is ill: store.Store.
type ailing struct {
	store.Store
	ill atomic.Bool
}

// Range fails while the store is ill.
func (s *ailing) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if s.ill.Load() {
		return store.Page{}, errors.New("it is ill")
	}
	return s.Store.Range(ctx, r)
}

// mute is a store that does not answer reads once it is silent.
type mute struct {
	store.Store
	silent atomic.Bool
}

func (s *mute) Range(ctx context.Context, r store.Range) (store.Page, error) {
	if s.silent.Load() {
		<-ctx.Done()
		return store.Page{}, ctx.Err()
	}
	return s.Store.Range(ctx, r)
}

// TestHealthOfSilence asks how a server does whose store does not answer: who probes it hears so within two seconds, on a clock of
// the test's.
func TestHealthOfSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		objects := &mute{Store: memory.New()}
		s := servertest.New(t, server.Config{Store: objects})
		objects.silent.Store(true)
		for _, path := range []string{"/readyz", "/healthz", "/livez"} {
			asked := time.Now()
			w := servertest.Ask(s, "GET "+path, "")
			if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "[-]etcd failed") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
			if took := time.Since(asked); took >= 2*time.Second {
				t.Errorf("%s: the answer takes %v", path, took)
			}
		}
	})
}

// TestHealth asks how a server does that does well, one whose store fails, and one that was closed.
func TestHealth(t *testing.T) {
	objects := &ailing{Store: memory.New()}
	s := servertest.New(t, server.Config{Store: objects})
	expect := func(code int, paths map[string]string) {
		t.Helper()
		for path, want := range paths {
			if w := servertest.Ask(s, "GET "+path, ""); w.Code != code || w.Body.String() != want || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%s: %d %q as %s, want %d %q", path, w.Code, w.Body, w.Header().Get("Content-Type"), code, want)
			}
		}
	}
	live := []string{"ping", "log", "loopback-serving-certificate", "etcd"}
	ready := []string{"ping", "log", "etcd", "etcd-readiness", "informer-sync"}
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		names := live
		if path == "/readyz" {
			names = append(ready, "shutdown")
		}
		expect(http.StatusOK, map[string]string{path: "ok", path + "?exclude=none": "ok", path + "/poststarthook/start-apiextensions-controllers": "ok"})
		for _, name := range names {
			expect(http.StatusOK, map[string]string{path + "/" + name: "ok", path + "/" + name + "?verbose": "ok"})
		}
	}
	expect(http.StatusNotFound, map[string]string{"/livez/none": "404 page not found\n", "/livez/ping/more": "404 page not found\n",
		"/livez/": "404 page not found\n", "/livez/informer-sync": "404 page not found\n", "/livez/shutdown": "404 page not found\n",
		"/readyz/loopback-serving-certificate": "404 page not found\n"})
	verbose := servertest.Ask(s, "GET /readyz?verbose&exclude=etcd&exclude=none", "").Body.String()
	if !strings.HasPrefix(verbose, "[+]ping ok\n[+]log ok\n[+]etcd excluded: ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[+]poststarthook/") ||
		!strings.HasSuffix(verbose, "[+]shutdown ok\nwarn: some health checks cannot be excluded: no matches for \"none\"\nreadyz check passed\n") {
		t.Errorf("readyz says\n%s", verbose)
	}
	objects.ill.Store(true)
	expect(http.StatusInternalServerError, map[string]string{"/readyz/etcd": "internal server error: reason withheld\n"})
	if w := servertest.Ask(s, "GET /livez", ""); w.Code != http.StatusInternalServerError ||
		!strings.Contains(w.Body.String(), "\n[-]etcd failed: reason withheld\n") || !strings.HasSuffix(w.Body.String(), "livez check failed\n") {
		t.Errorf("livez: %d %s", w.Code, w.Body)
	}
	expect(http.StatusOK, map[string]string{"/livez?exclude=etcd": "ok", "/livez/ping": "ok"})
	metrics := servertest.Ask(s, "GET /metrics/slis", "").Body.String()
	for _, want := range []string{ // checks that are asked for alone or excluded do not count
		`kubernetes_healthcheck{name="etcd",type="livez"} 0`, `kubernetes_healthcheck{name="etcd",type="readyz"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="error",type="livez"} 1`,
		`kubernetes_healthchecks_total{name="etcd",status="success",type="livez"} 2`,
	} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("no %s in\n%s", want, metrics)
		}
	}
	objects.ill.Store(false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	expect(http.StatusInternalServerError, map[string]string{"/readyz/shutdown": "internal server error: reason withheld\n"})
}

// TestHealthChecks asks for checks that only some servers have.
func TestHealthChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		config server.Config
		has    []string
		lacks  []string
	}{
		{"plain", server.Config{}, []string{"max-in-flight-filter", "storage-readiness"}, []string{"rbac/bootstrap-roles", "priority-and-fairness-filter"}},
		{"with RBAC", server.Config{RBAC: true}, []string{"rbac/bootstrap-roles"}, nil},
		{"with priority and fairness", server.Config{PriorityAndFairness: true},
			[]string{"priority-and-fairness-config-consumer", "priority-and-fairness-filter"}, []string{"max-in-flight-filter"}},
		{"of 1.35", server.Config{EmulatedVersion: "1.35"}, nil, []string{"peer-endpoint-reconciler-controller", "storage-readiness"}},
	} {
		s := servertest.New(t, c.config)
		for code, names := range map[int][]string{http.StatusOK: c.has, http.StatusNotFound: c.lacks} {
			for _, name := range names {
				if w := servertest.Ask(s, "GET /readyz/poststarthook/"+name, ""); w.Code != code {
					t.Errorf("a server %s: %s: %d %s", c.name, name, w.Code, w.Body)
				}
			}
		}
	}
}

// TestPages reads the pages about the server and its flags.
func TestPages(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var passed atomic.Int64 // since began; the server's background reads its clock, too
	s := servertest.New(t, server.Config{
		Now:   func() time.Time { return began.Add(time.Duration(passed.Load())) },
		Flags: map[string]string{"b": "2", "a": ""},
	})
	passed.Store(int64(90*time.Minute + time.Second))
	const warning = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n"
	for path, want := range map[string]string{
		"/flagz":   "\napiserver flagz\n" + warning + "a \nb 2\n",
		"/statusz": "\napiserver statusz\n" + warning + "\nStarted: Fri Jan  2 03:04:05 UTC 2026\nUp: 1 hr 30 min 01 sec\n",
	} {
		for _, accept := range []string{"", " Accept=text/plain", " Accept=*/*"} {
			if w := servertest.Ask(s, "GET "+path+accept, ""); w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), want) {
				t.Errorf("%s%s: %d %s", path, accept, w.Code, w.Body)
			}
		}
		if w := servertest.Ask(s, "GET "+path+" Accept=application/json", ""); w.Code != http.StatusNotAcceptable {
			t.Errorf("%s as JSON: %d %s", path, w.Code, w.Body)
		}
	}
	const versions = `"goVersion":"","binaryVersion":"1.37.2+deed","emulationVersion":"1.37"`
	for _, c := range []struct{ request, media, warning, want string }{
		{
			"GET /statusz Accept=application/json;v=v1alpha1;g=config.k8s.io;as=Statusz", "application/json;g=config.k8s.io;v=v1alpha1;as=Statusz",
			`299 - "This version of the statusz endpoint is deprecated. Please use a newer version."`,
			`{"kind":"Statusz","apiVersion":"config.k8s.io/v1alpha1","metadata":{"name":"apiserver"},"startTime":"2026-01-02T03:04:05Z","uptimeSeconds":5401,` +
				versions + `,"paths":["/flagz","/healthz","/livez","/metrics","/readyz","/statusz","/version"]}` + "\n",
		},
		{
			"GET /flagz Accept=text/plain;q=0.5,*/*;v=v1beta1;g=config.k8s.io;as=Flagz", "application/json;g=config.k8s.io;v=v1beta1;as=Flagz", "",
			`{"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1","metadata":{"name":"apiserver"},"flags":{"a":"","b":"2"}}` + "\n",
		},
		{
			"GET /flagz Accept=application/yaml;v=v1beta1;g=config.k8s.io;as=Flagz", "application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz", "",
			"apiVersion: config.k8s.io/v1beta1\nflags:\n  a: \"\"\n  b: \"2\"\nkind: Flagz\nmetadata:\n  name: apiserver\n",
		},
	} {
		w := servertest.Ask(s, c.request, "")
		got := strings.Replace(w.Body.String(), runtime.Version(), "", 1)
		if header := w.Header(); w.Code != http.StatusOK || header.Get("Content-Type") != c.media || header.Get("Warning") != c.warning || got != c.want {
			t.Errorf("%s: %d %q %s", c.request, w.Code, header, w.Body)
		}
	}
	for _, accept := range []string{
		"application/json;v=v2;g=config.k8s.io;as=Statusz", "text/plain;v=v1beta1;g=config.k8s.io;as=Statusz", wire.Protobuf,
	} {
		w := servertest.Ask(s, "GET /statusz Accept="+accept, "")
		if w.Code != http.StatusNotAcceptable || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %q %s", accept, w.Code, w.Header(), w.Body)
		}
	}
}

// TestKubeconfig writes the configuration of clients into a file, and into one that has others.
func TestKubeconfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	others := `{"kind":"Config","apiVersion":"v1","current-context":"other","clusters":[{"name":"other","cluster":{"server":"https://other"}},
		{"name":"deed","cluster":{"server":"https://old"}}],"users":[{"name":"other","user":{"token":"o"}}],"contexts":[{"name":"other","context":{"cluster":"other","user":"other"}}]}`
	if err := os.WriteFile(file, []byte(others), 0o600); err != nil {
		t.Fatal(err)
	}
	c := server.Kubeconfig("https://127.0.0.1:1", []byte("trusted"), "secret")
	for _, merge := range []bool{true, false} {
		if err := server.WriteKubeconfig(file, c, merge); err != nil {
			t.Fatal(err)
		}
		got, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		deed := got.Clusters["deed"]
		if deed.Server != "https://127.0.0.1:1" || string(deed.CertificateAuthorityData) != "trusted" || got.AuthInfos["deed"].Token != "secret" ||
			got.Contexts["deed"].Cluster != "deed" || got.Contexts["deed"].AuthInfo != "deed" || got.CurrentContext != "deed" {
			t.Errorf("merged %t: the configuration is %+v", merge, got)
		}
		if n := len(got.Clusters) + len(got.AuthInfos) + len(got.Contexts); n != map[bool]int{true: 6, false: 3}[merge] {
			t.Errorf("merged %t: it has %d entries", merge, n)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v: %v", info.Mode(), err)
	}
}

// TestBeginning begins with objects that another server had, without a namespace and twice, and with such that nobody serves.
func TestBeginning(t *testing.T) {
	object := func(text string) value.Value {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	restored := object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7","uid":"u"},"data":{"a":"1"}}`)
	second := restored.With("data", value.Object())
	s, err := server.New(server.Config{Objects: []value.Value{restored, second, object(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := servertest.Parsed(t, servertest.Ask(s, "GET "+servertest.Core+"namespaces/default/configmaps/a", "")); got.Get("data", "a").Str() != "1" || got.Get("metadata", "uid").Str() != "u" {
		t.Errorf("restored is %v", got)
	}
	if w := servertest.Ask(s, "GET "+servertest.Core+"namespaces/default/configmaps/b", ""); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for text, want := range map[string]string{
		`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a","resourceVersion":"7"}}`:         "Thing a: g.io/v1 Thing is not served",
		`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a"}}`:                               "Thing a: g.io/v1 Thing is not served",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7"},"data":1}`: "ConfigMap a: ",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"A"}}`:                                `ConfigMap A: ConfigMap "A" is invalid`,
	} {
		if _, err := server.New(server.Config{Objects: []value.Value{object(text)}}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`:                                                                "admission configuration 0, ConfigMap a, is no configuration of webhooks",
		`{"apiVersion":"g.io/v1","kind":"Thing"}`:                                                                                       "admission configuration 0, Thing , is no configuration of webhooks",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"a"},"webhooks":1}`: "ValidatingWebhookConfiguration a: ",
		`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"a"},"webhooks":[{"name":"a.b.c","objectSelector":{"matchExpressions":[{"key":"a","operator":"No"}]}}]}`: "ValidatingWebhookConfiguration a: ",
	} {
		if _, err := server.New(server.Config{Webhooks: server.Webhooks{Fixed: []value.Value{object(text)}}}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestVersionIsIndented demands that every client gets the release with line breaks, and none at the end.
func TestVersionIsIndented(t *testing.T) {
	text := servertest.Ask(servertest.Widgets(t), "GET /version", "").Body.String()
	if !strings.HasPrefix(text, "{\n  \"major\": \"1\",\n  \"minor\": ") || !strings.HasSuffix(text, "\n}") {
		t.Errorf("the release is %q", text)
	}
}
