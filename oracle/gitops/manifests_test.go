package gitops

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/kube"
	deed "github.com/deed-project/deed/kube/gitops"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/apitest"
	"github.com/deed-project/deed/value"
)

// sources are modules with manifests of real projects. Their folders of tests and samples have many.
var sources = []string{
	"istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad", "knative.dev/serving@v0.51.0", "sigs.k8s.io/kueue@v0.17.0", "k8s.io/kubernetes@v1.37.1",
	"github.com/prometheus-operator/prometheus-operator@v0.85.0", "sigs.k8s.io/cluster-api@v1.14.2", "github.com/kyverno/kyverno@v1.19.1",
}

// manager applies all manifests.
const manager = "argocd-controller"

// TestManifests compares predictions with the dry runs of a server: for each manifest as it is, and with random edits.
func TestManifests(t *testing.T) {
	each, err := strconv.Atoi(cmp.Or(os.Getenv("DEED_MANIFESTS"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	if each == 0 {
		t.Skip("it downloads modules; DEED_MANIFESTS=N takes each Nth manifest, and DEED_PEER=https://HOST:PORT asks a kube-apiserver")
	}
	c := &comparison{t: t, random: rand.New(rand.NewPCG(1, 2)), kinds: map[schema.GVK]resource{}, differ: map[string]int{}}
	c.connect(t)
	var objects []value.Value
	for _, source := range sources {
		objects = append(objects, manifestsIn(t, source)...)
	}
	c.define(objects)
	seen := map[uint64]bool{}
	for _, object := range objects {
		sum := fnv.New64a()
		sum.Write(object.AppendJSON(nil))
		if seen[sum.Sum64()] {
			continue
		}
		seen[sum.Sum64()] = true
		if len(seen)%each == 0 {
			c.manifest(object)
		}
	}
	t.Logf("%d manifests, %d refused by the server, %d of kinds that it lacks; %d dry runs, %d edits refused, %d differ",
		c.manifests, c.refused, c.unknown, c.dryRuns, c.editsRefused, c.different)
	for _, what := range slices.SortedFunc(mapsKeys(c.differ), func(a, b string) int { return cmp.Compare(c.differ[b], c.differ[a]) }) {
		t.Logf("%5d  %s", c.differ[what], what)
	}
	if c.manifests < 2000/each {
		t.Errorf("%d manifests are compared, want %d", c.manifests, 2000/each)
	}
	if c.different > 0 {
		t.Errorf("%d dry runs differ", c.different)
	}
}

func mapsKeys(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// resource is where the objects of a kind are.
type resource struct {
	path       string
	namespaced bool
}

// comparison compares predictions with a server.
type comparison struct {
	t        *testing.T
	client   *http.Client
	base     string
	token    string
	random   *rand.Rand
	kinds    map[schema.GVK]resource
	registry *kube.Registry
	differ   map[string]int

	manifests, refused, unknown, dryRuns, editsRefused, different int
}

// connect starts a server in the process, or takes the one of DEED_PEER.
func (c *comparison) connect(t *testing.T) {
	if peer := os.Getenv("DEED_PEER"); peer != "" {
		c.client, c.base, c.token = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, peer, "tok"
		return
	}
	c.client, c.base = &http.Client{Transport: apitest.Start(t).Transport()}, "http://deed.invalid"
}

// define creates the definitions among objects, and fills in the kinds.
func (c *comparison) define(objects []value.Value) {
	for k := range builtin.Kinds() {
		if k.Served == builtin.ServedByDefault {
			c.kinds[k.GVK] = resource{k.Resource, k.Namespaced}
		}
	}
	var definitions []any
	names := map[string]bool{}
	for _, o := range objects {
		name := o.Get("metadata", "name").Str()
		if o.Get("kind").Str() != "CustomResourceDefinition" || o.Get("apiVersion").Str() != "apiextensions.k8s.io/v1" || names[name] {
			continue
		}
		if _, err := kube.NewRegistry(kube.Sources{Definitions: []any{o}}); err != nil {
			continue
		}
		if status, _ := c.send(http.MethodPatch, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name+"?force=true&fieldManager="+manager, o); status > 299 {
			continue
		}
		names[name] = true
		definitions = append(definitions, o)
		for v := range o.Get("spec", "versions").Items() {
			gvk := schema.GVK{Group: o.Get("spec", "group").Str(), Version: v.Get("name").Str(), Kind: o.Get("spec", "names", "kind").Str()}
			if v.Get("served").Bool() && o.Get("spec", "conversion", "strategy").Str() != "Webhook" {
				c.kinds[gvk] = resource{o.Get("spec", "names", "plural").Str(), o.Get("spec", "scope").Str() == "Namespaced"}
			}
		}
	}
	var err error
	if c.registry, err = kube.NewRegistry(kube.Sources{Definitions: definitions}); err != nil {
		c.t.Fatal(err)
	}
	c.t.Logf("%d definitions", len(definitions))
}

// send sends a request, and returns the code and the body of the answer.
func (c *comparison) send(method, path string, body value.Value) (int, value.Value) {
	var text io.Reader
	if !body.IsAbsent() {
		text = bytes.NewReader(body.AppendJSON(nil))
	}
	r, err := http.NewRequest(method, c.base+path, text)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	v, err := value.Parse(out)
	if err != nil && answer.StatusCode > 299 {
		return answer.StatusCode, value.Null() // a path that is not served
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer.StatusCode, v
}

// manifest compares the predictions for one manifest.
func (c *comparison) manifest(object value.Value) {
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	r, ok := c.kinds[gvk]
	name := object.Get("metadata", "name").Str()
	if !ok || name == "" || gvk.Kind == "CustomResourceDefinition" || strings.HasSuffix(gvk.Kind, "Review") || gvk.Kind == "Namespace" {
		c.unknown++
		return
	}
	metadata := object.Get("metadata").With("managedFields", value.Value{}).With("resourceVersion", value.Value{}).With("uid", value.Value{})
	path := "/apis/" + gvk.APIVersion() + "/"
	if gvk.Group == "" {
		path = "/api/" + gvk.Version + "/"
	}
	if metadata = metadata.With("namespace", value.Value{}); r.namespaced {
		metadata = metadata.With("namespace", value.String("default"))
		path += "namespaces/default/"
	}
	object = object.With("metadata", metadata).With("status", value.Value{})
	path += r.path + "/" + name
	apply := path + "?force=true&fieldManager=" + manager
	c.send(http.MethodDelete, path+"?gracePeriodSeconds=0&propagationPolicy=Background", value.Value{})
	status, live := c.send(http.MethodPatch, apply, object)
	if status > 299 {
		c.refused++
		return
	}
	c.manifests++
	c.compare(gvk, apply, live, object)
	for range 3 {
		c.compare(gvk, apply, live, edited(c.random, object))
	}
	c.send(http.MethodDelete, path+"?gracePeriodSeconds=0&propagationPolicy=Background", value.Value{})
}

// compare compares a prediction with a dry run.
func (c *comparison) compare(gvk schema.GVK, path string, live, desired value.Value) {
	status, want := c.send(http.MethodPatch, path+"&dryRun=All", desired)
	if status > 299 {
		c.editsRefused++
		return
	}
	c.dryRuns++
	got, err := deed.Diff(live, desired, c.registry, deed.Options{Manager: manager})
	if err != nil {
		c.t.Errorf("%v: %v", gvk, err)
		return
	}
	object, err := managedfields.ObjectOf(want)
	if err != nil {
		c.t.Fatal(err)
	}
	was, err := managedfields.ObjectOf(live)
	if err != nil {
		c.t.Fatal(err)
	}
	what := ""
	switch drift := !without(object.Content).Equal(without(was.Content)); {
	case !without(object.Content).Equal(without(got.Object.Content)):
		what = "object: " + firstDifference(without(object.Content), without(got.Object.Content), "")
	case !kube.SameOwners(object.Entries, got.Object.Entries):
		what = "owners"
	case drift != got.Modified():
		what = fmt.Sprintf("modified is %t", got.Modified())
	}
	if known := knownDifference(gvk, what); known != "" {
		c.t.Logf("%v %s: %s, as is known: %s", gvk, desired.Get("metadata", "name").Str(), what, known)
		return
	}
	if what != "" {
		c.different++
		c.differ[fmt.Sprintf("%v: %s", gvk, what)]++
	}
}

// knownDifference returns why a prediction differs from a dry run, and "" where that is not known.
func knownDifference(gvk schema.GVK, what string) string {
	switch {
	case gvk.Kind == "Service" && strings.HasPrefix(what, "object: .spec.ipFamil"):
		return "a server allocates the families of addresses when a Service becomes one with addresses"
	case gvk.Kind == "Service" && strings.HasPrefix(what, "object: .spec.clusterIP"):
		return "a server allocates the address of a Service, or keeps that it has none"
	}
	return ""
}

// without returns object without what a server counts by itself. The generation is part of a prediction, but no drift.
func without(object value.Value) value.Value {
	metadata := object.Get("metadata")
	for _, name := range []string{"resourceVersion", "generation"} {
		metadata = metadata.With(name, value.Value{})
	}
	return object.With("metadata", metadata)
}

// firstDifference names the first place where two values differ.
func firstDifference(want, got value.Value, path string) string {
	if want.Kind() == value.KindObject && got.Kind() == value.KindObject {
		for _, pair := range [][2]value.Value{{want, got}, {got, want}} {
			for name := range pair[0].Members() {
				if !want.Get(name).Equal(got.Get(name)) {
					return firstDifference(want.Get(name), got.Get(name), path+"."+name)
				}
			}
		}
	}
	if want.Kind() == value.KindList && got.Kind() == value.KindList && want.Len() == got.Len() {
		for i := range want.Len() {
			if !want.Item(i).Equal(got.Item(i)) {
				return firstDifference(want.Item(i), got.Item(i), path+"[]")
			}
		}
	}
	short := func(v value.Value) string { return fmt.Sprintf("%.80s", v.String()) }
	return fmt.Sprintf("%s: server %s, deed %s", path, short(want), short(got))
}

// edited returns object with a random edit: a scalar is changed, a member or item goes, or a label comes.
func edited(random *rand.Rand, object value.Value) value.Value {
	if random.IntN(4) == 0 {
		metadata := object.Get("metadata")
		return object.With("metadata", metadata.With("labels", metadata.Get("labels").With("edited", value.String("yes"))))
	}
	out := object
	for name, member := range object.Members() {
		if name != "apiVersion" && name != "kind" && name != "metadata" && random.IntN(2) == 0 {
			out = out.With(name, editedPart(random, member))
		}
	}
	return out
}

func editedPart(random *rand.Rand, v value.Value) value.Value {
	switch v.Kind() {
	case value.KindObject:
		if v.Len() == 0 {
			return v
		}
		m := v.Member(random.IntN(v.Len()))
		if random.IntN(6) == 0 {
			return v.With(m.Name, value.Value{})
		}
		return v.With(m.Name, editedPart(random, m.Value))
	case value.KindList:
		if v.Len() == 0 {
			return v
		}
		items := slices.Collect(v.Items())
		i := random.IntN(len(items))
		switch random.IntN(6) {
		case 0:
			return value.List(slices.Delete(items, i, i+1)...)
		case 1:
			slices.Reverse(items)
			return value.List(items...)
		}
		items[i] = editedPart(random, items[i])
		return value.List(items...)
	case value.KindInt:
		return value.Int(v.Int() + int64(1+random.IntN(3)))
	case value.KindBool:
		return value.Bool(!v.Bool())
	case value.KindString:
		switch s := v.Str(); {
		case s == "1":
			return value.String("1000m")
		case strings.HasSuffix(s, "Gi") || strings.HasSuffix(s, "m"):
			return value.String("1.0")
		default:
			return value.String(s + "x")
		}
	}
	return v
}

// manifestsIn returns the objects in the YAML files of a module, in the order of the files. Templates and other files that are no YAML
// are left out.
func manifestsIn(t *testing.T, source string) []value.Value {
	cmd := command("mod", "download", "-json", source)
	cmd.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go.mod"), []byte("module manifests\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &module); jsonErr != nil || module.Dir == "" {
		t.Fatalf("%s: %v, %v, %s", source, err, jsonErr, module.Error)
	}
	var objects []value.Value
	err = filepath.WalkDir(module.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents, err := yaml.Parse(path, text)
		if err != nil || len(text) > 1<<20 {
			return nil // a template
		}
		for _, document := range documents {
			if items := document.Value.Get("items"); items.Kind() == value.KindList && strings.HasSuffix(document.Value.Get("kind").Str(), "List") {
				objects = slices.AppendSeq(objects, items.Items())
			} else if document.Value.Get("kind").Kind() == value.KindString {
				objects = append(objects, document.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d objects", source, len(objects))
	return objects
}
