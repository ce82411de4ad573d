package server_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// rehearsals are writes through every verb and subresource, to custom resources, built-in kinds, namespaces and definitions. Each
// would be carried out.
var rehearsals = []struct{ request, body string }{
	{"POST " + things, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"generateName":"g-"}}`},
	{"PUT " + things + "/web", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web","resourceVersion":"$RV"},"spec":{"replicas":2}}`},
	{"PATCH " + things + "/other?fieldManager=m" + apply, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"other"}}`},
	{"PATCH " + things + "/web?fieldManager=m&force=true" + apply, strings.Replace(web, "red", "blue", 1)},
	{"PATCH " + things + "/web" + merge, `{"spec":{"replicas":3}}`},
	{"PATCH " + things + "/web" + patch, `[{"op":"replace","path":"/spec/color","value":"blue"}]`},
	{"PUT " + things + "/web/status", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web","resourceVersion":"$RV"},"status":{"replicas":2}}`},
	{"PATCH " + things + "/web/status" + merge, `{"status":{"replicas":3}}`},
	{"PATCH " + things + "/web/status?fieldManager=m" + apply, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"status":{"replicas":2}}`},
	{"PUT " + things + "/web/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH " + things + "/web/scale" + merge, `{"spec":{"replicas":3}}`},
	{"DELETE " + things + "/web", ""},
	{"DELETE " + things + "/web?propagationPolicy=Orphan", ""},
	{"DELETE " + things + "/held", ""},
	{"PATCH " + things + "/going" + merge, `{"metadata":{"finalizers":null}}`},
	{"DELETE " + things, ""},

	{"POST " + core + "namespaces/default/configmaps", `{"metadata":{"name":"new"}}`},
	{"PUT " + core + "namespaces/default/configmaps/settings", `{"metadata":{"name":"settings"},"data":{"a":"2"}}`},
	{"PATCH " + core + "namespaces/default/configmaps/settings" + strategic, `{"data":{"a":"2"}}`},
	{"PUT " + core + "namespaces/default/endpoints/new", `{"metadata":{"name":"new"}}`},
	{"PUT /apis/apps/v1/namespaces/default/deployments/web/scale", `{"metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH /apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=m&force=true" + apply,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH /apis/apps/v1/namespaces/default/deployments/web/status" + merge, `{"status":{"replicas":3}}`},
	{"DELETE " + core + "namespaces/default/configmaps/settings", ""},
	{"DELETE " + core + "namespaces/default/configmaps", ""},

	{"POST " + core + "namespaces", `{"metadata":{"name":"new"}}`},
	{"DELETE " + core + "namespaces/shop", ""},
	{"PUT " + core + "namespaces/shop/finalize", `{"metadata":{"name":"shop"},"spec":{"finalizers":[]}}`},
	{"PATCH " + core + "namespaces/shop/status" + merge, `{"status":{"conditions":[{"type":"Full","status":"True"}]}}`},

	{"POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets},
	{"PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org" + merge, `{"spec":{"names":{"shortNames":["wi"]}}}`},
	{"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org", ""},
	{"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions", ""},
}

const (
	strategic = " Content-Type=application/strategic-merge-patch+json"
	gadgets   = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.org"},
		"spec":{"group":"example.org","scope":"Namespaced","names":{"kind":"Gadget","plural":"gadgets"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	deployment = `{"metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
)

// TestDryRuns rehearses every write on every store, and finds in the store every byte and the revision as they were. Then it
// carries the write out, which must change the store: otherwise the rehearsal would have shown nothing.
func TestDryRuns(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) store.Store{
		"memory": func(*testing.T) store.Store { return memory.New() },
		"file": func(t *testing.T) store.Store {
			s, err := file.Open(filepath.Join(t.TempDir(), "data"))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	} {
		for _, c := range rehearsals {
			t.Run(name+" "+c.request, func(t *testing.T) {
				t.Parallel()
				rehearsed(t, open(t), c.request, c.body)
			})
		}
	}
}

func rehearsed(t *testing.T, objects store.Store, request, body string) {
	t.Helper()
	s := stage(t, objects)
	before := contents(t, objects)
	words := strings.Fields(request)
	path, _, _ := strings.Cut(words[1], "?")
	body = strings.ReplaceAll(body, "$RV", versionOf(t, s, path))
	separator := "?"
	if strings.Contains(words[1], "?") {
		separator = "&"
	}
	dry := strings.Replace(request, words[1], words[1]+separator+"dryRun=All", 1)
	first := ask(s, dry, body)
	if first.Code >= 300 {
		t.Fatalf("%s: %d %s", dry, first.Code, first.Body)
	}
	if after := contents(t, objects); after != before {
		t.Fatalf("%s changed what is stored:\n%s\n%s", dry, before, after)
	}
	if second := ask(s, request, body); second.Code != first.Code {
		t.Errorf("%s: %d, but rehearsed %d: %s", request, second.Code, first.Code, second.Body)
	}
	if contents(t, objects) == before {
		t.Errorf("%s changes nothing, so that the rehearsal shows nothing", request)
	}
}

// versionOf returns the resource version of the object that a path names, or that has the subresource which it names; "" if there
// is none.
func versionOf(t *testing.T, s http.Handler, path string) string {
	t.Helper()
	for _, sub := range []string{"/status", "/scale", "/finalize"} {
		path = strings.TrimSuffix(path, sub)
	}
	v, err := value.Parse(ask(s, "GET "+path, "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v.Get("metadata", "resourceVersion").Str()
}

// stage is a server with the objects that rehearsals are about.
func stage(t *testing.T, objects store.Store) *server.Server {
	t.Helper()
	s, err := server.New(server.Config{Store: objects, Objects: widgetDefinitions(t), Limits: unhurried(filters.Limits{}), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := objects.Close(); err != nil {
			t.Error(err)
		}
	})
	held := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":%q,"finalizers":["example.org/hold"]}}`
	for _, c := range []struct{ request, body string }{
		{"POST " + things, web},
		{"POST " + things, fmt.Sprintf(held, "held")},
		{"POST " + things, fmt.Sprintf(held, "going")},
		{"DELETE " + things + "/going", ""},
		{"POST " + core + "namespaces/default/configmaps", `{"metadata":{"name":"settings"},"data":{"a":"1"}}`},
		{"POST /apis/apps/v1/namespaces/default/deployments", deployment},
		{"POST " + core + "namespaces", `{"metadata":{"name":"shop"}}`},
	} {
		if w := ask(s, c.request, c.body); w.Code >= 300 {
			t.Fatalf("%s: %d %s", c.request, w.Code, w.Body)
		}
	}
	return s
}

// contents returns everything that is stored, with its revisions, as text.
func contents(t *testing.T, objects store.Store) string {
	t.Helper()
	page, err := objects.Range(t.Context(), store.Range{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, r := range page.Records {
		fmt.Fprintf(&out, "%s %d %d %s\n", r.Key, r.Created, r.Revision, r.Text)
	}
	fmt.Fprintf(&out, "revision %d\n", page.Revision)
	return out.String()
}
