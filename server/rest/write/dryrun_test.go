package write_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/file"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// rehearsals are writes through every verb and subresource, to custom resources, built-in kinds, namespaces and definitions. Each
// would be carried out.
var rehearsals = []struct{ request, body string }{
	{"POST " + servertest.Things, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"generateName":"g-"}}`},
	{"PUT " + servertest.Things + "/web", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web","resourceVersion":"$RV"},"spec":{"replicas":2}}`},
	{"PATCH " + servertest.Things + "/other?fieldManager=m" + servertest.ApplyPatch, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"other"}}`},
	{"PATCH " + servertest.Things + "/web?fieldManager=m&force=true" + servertest.ApplyPatch, strings.Replace(servertest.Web, "red", "blue", 1)},
	{"PATCH " + servertest.Things + "/web" + servertest.MergePatch, `{"spec":{"replicas":3}}`},
	{"PATCH " + servertest.Things + "/web" + servertest.JSONPatch, `[{"op":"replace","path":"/spec/color","value":"blue"}]`},
	{"PUT " + servertest.Things + "/web/status", `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web","resourceVersion":"$RV"},"status":{"replicas":2}}`},
	{"PATCH " + servertest.Things + "/web/status" + servertest.MergePatch, `{"status":{"replicas":3}}`},
	{"PATCH " + servertest.Things + "/web/status?fieldManager=m" + servertest.ApplyPatch, `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"web"},"status":{"replicas":2}}`},
	{"PUT " + servertest.Things + "/web/scale", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH " + servertest.Things + "/web/scale" + servertest.MergePatch, `{"spec":{"replicas":3}}`},
	{"DELETE " + servertest.Things + "/web", ""},
	{"DELETE " + servertest.Things + "/web?propagationPolicy=Orphan", ""},
	{"DELETE " + servertest.Things + "/held", ""},
	{"PATCH " + servertest.Things + "/going" + servertest.MergePatch, `{"metadata":{"finalizers":null}}`},
	{"DELETE " + servertest.Things, ""},

	{"POST " + servertest.Core + "namespaces/default/configmaps", `{"metadata":{"name":"new"}}`},
	{"PUT " + servertest.Core + "namespaces/default/configmaps/settings", `{"metadata":{"name":"settings"},"data":{"a":"2"}}`},
	{"PATCH " + servertest.Core + "namespaces/default/configmaps/settings" + servertest.StrategicPatch, `{"data":{"a":"2"}}`},
	{"PUT " + servertest.Core + "namespaces/default/endpoints/new", `{"metadata":{"name":"new"}}`},
	{"PUT /apis/apps/v1/namespaces/default/deployments/web/scale", `{"metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH /apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=m&force=true" + servertest.ApplyPatch,
		`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":4}}`},
	{"PATCH /apis/apps/v1/namespaces/default/deployments/web/status" + servertest.MergePatch, `{"status":{"replicas":3}}`},
	{"DELETE " + servertest.Core + "namespaces/default/configmaps/settings", ""},
	{"DELETE " + servertest.Core + "namespaces/default/configmaps", ""},

	{"POST " + servertest.Core + "namespaces", `{"metadata":{"name":"new"}}`},
	{"DELETE " + servertest.Core + "namespaces/shop", ""},
	{"PUT " + servertest.Core + "namespaces/shop/finalize", `{"metadata":{"name":"shop"},"spec":{"finalizers":[]}}`},
	{"PATCH " + servertest.Core + "namespaces/shop/status" + servertest.MergePatch, `{"status":{"conditions":[{"type":"Full","status":"True"}]}}`},

	{"POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", servertest.Gadgets},
	{"PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org" + servertest.MergePatch, `{"spec":{"names":{"shortNames":["wi"]}}}`},
	{"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.org", ""},
	{"DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions", ""},
}

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
	s := servertest.Stage(t, objects)
	before := contents(t, objects)
	words := strings.Fields(request)
	path, _, _ := strings.Cut(words[1], "?")
	body = strings.ReplaceAll(body, "$RV", versionOf(t, s, path))
	separator := "?"
	if strings.Contains(words[1], "?") {
		separator = "&"
	}
	dry := strings.Replace(request, words[1], words[1]+separator+"dryRun=All", 1)
	first := servertest.Ask(s, dry, body)
	if first.Code >= 300 {
		t.Fatalf("%s: %d %s", dry, first.Code, first.Body)
	}
	if after := contents(t, objects); after != before {
		t.Fatalf("%s changed what is stored:\n%s\n%s", dry, before, after)
	}
	if second := servertest.Ask(s, request, body); second.Code != first.Code {
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
	v, err := value.Parse(servertest.Ask(s, "GET "+path, "").Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return v.Get("metadata", "resourceVersion").Str()
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
