// Package kindtest has a kind for tests, Thing, with its type, its field manager and objects. Objects come from JSON or from random
// histories.
//
// A Thing has a field for each way of ownership: scalars, open maps, a set, nested keyed lists, an atomic list and an atomic object.
// Tests of packages managedfields and ownership state expected entries in the form of [Show].
package kindtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// document has one type for each way of ownership.
const document = `{"types": [
  {"name": "thing", "map": {"fields": [
    {"name": "apiVersion", "type": {"scalar": "string"}},
    {"name": "kind", "type": {"scalar": "string"}},
    {"name": "metadata", "type": {"map": {"fields": [
      {"name": "name", "type": {"scalar": "string"}},
      {"name": "namespace", "type": {"scalar": "string"}},
      {"name": "resourceVersion", "type": {"scalar": "string"}},
      {"name": "uid", "type": {"scalar": "string"}},
      {"name": "labels", "type": {"map": {"elementType": {"scalar": "string"}}}},
      {"name": "annotations", "type": {"map": {"elementType": {"scalar": "string"}}}},
      {"name": "finalizers", "type": {"list": {"elementType": {"scalar": "string"}, "elementRelationship": "associative"}}}]}}},
    {"name": "spec", "type": {"map": {"fields": [
      {"name": "replicas", "type": {"scalar": "numeric"}},
      {"name": "quota", "type": {"map": {"elementType": {"scalar": "untyped"}}}},
      {"name": "args", "type": {"list": {"elementType": {"scalar": "string"}, "elementRelationship": "atomic"}}},
      {"name": "selector", "type": {"map": {"elementType": {"scalar": "string"}, "elementRelationship": "atomic"}}},
      {"name": "containers", "type": {"list": {"elementType": {"namedType": "container"}, "elementRelationship": "associative", "keys": ["name"]}}}]}}}]}},
  {"name": "container", "map": {"fields": [
    {"name": "name", "type": {"scalar": "string"}},
    {"name": "image", "type": {"scalar": "string"}},
    {"name": "dir", "type": {"map": {"fields": [{"name": "size", "type": {"scalar": "numeric"}}]}}},
    {"name": "ports", "type": {"list": {"elementType": {"namedType": "port"}, "elementRelationship": "associative", "keys": ["port", "protocol"]}}}]}},
  {"name": "port", "map": {"fields": [
    {"name": "port", "type": {"scalar": "numeric"}},
    {"name": "protocol", "type": {"scalar": "string"}, "default": "TCP"},
    {"name": "hostPort", "type": {"scalar": "numeric"}}]}}
]}`

// Type is the type of Things.
var Type = func() *schema.Type {
	v, err := value.Parse([]byte(document))
	if err != nil {
		panic(err)
	}
	document, err := schema.ParseDocument(v)
	if err != nil {
		panic(err)
	}
	compiled, err := schema.Compile(document)
	if err != nil {
		panic(err)
	}
	t := compiled["thing"]
	return t
}()

// Version is the apiVersion of Things. The version example.com/v2 has the same type.
const Version = "example.com/v1"

// NewYear is the start of the clock in tests.
var NewYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Manager returns the field manager of Things. change may alter its configuration; it may be nil. Each call of the clock advances it by a
// minute.
func Manager(change func(*managedfields.Config)) *managedfields.FieldManager {
	now := NewYear
	c := managedfields.Config{
		GVK:   schema.ParseGVK(Version, "Thing"),
		Types: map[string]*schema.Type{Version: Type, "example.com/v2": Type},
		Now: func() time.Time {
			now = now.Add(time.Minute)
			return now
		},
	}
	if change != nil {
		change(&c)
	}
	m, err := managedfields.New(c)
	if err != nil {
		panic(err)
	}
	return m
}

// New returns a Thing with the given members beside its identity. members is JSON text without the outer braces.
func New(t testing.TB, members string) managedfields.Object {
	t.Helper()
	o, err := managedfields.ParseObject([]byte(`{"apiVersion":"example.com/v1","kind":"Thing"` + comma(members) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if o.Content.Get("metadata").IsAbsent() {
		o.Content = o.Content.With("metadata", Parse(t, `{"name":"one","namespace":"here"}`))
	}
	return o
}

func comma(members string) string {
	if members == "" {
		return ""
	}
	return "," + members
}

// Parse parses a JSON text.
func Parse(t testing.TB, json string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Entries returns the entries of a JSON text in the form of metadata.managedFields.
func Entries(t testing.TB, json string) []managedfields.Entry {
	t.Helper()
	o, err := managedfields.ParseObject([]byte(`{"metadata":{"managedFields":` + json + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return o.Entries
}

// Path parses a path.
func Path(t testing.TB, text string) fieldpath.Path {
	t.Helper()
	p, err := fieldpath.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Show prints entries, one per line: manager, operation, version[/subresource], minutes since NewYear, and the paths.
func Show(t testing.TB, entries []managedfields.Entry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range entries {
		fields, err := fieldpath.ParseSet([]byte(e.FieldsV1.String()))
		if err != nil {
			t.Fatal(err)
		}
		at := "-"
		if !e.Time.IsZero() {
			at = fmt.Sprint(int(e.Time.Sub(NewYear).Minutes()))
		}
		_, version, _ := strings.Cut(e.APIVersion, "/")
		fmt.Fprintf(&b, "%s %s %s%s %s:", e.Manager, e.Operation, version, sub(e.Subresource), at)
		for p := range fields.All() {
			b.WriteString(" " + p.Text())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func sub(s string) string {
	if s == "" {
		return ""
	}
	return "/" + s
}

// Lines trims each line of text and drops empty lines, so that expectations can be indented.
func Lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Applier returns the applier called name.
func Applier(name string) merge.Manager { return merge.Manager{Name: name, Operation: merge.Apply} }

// Updater returns the updater called name, in Version.
func Updater(name string) merge.Manager {
	return merge.Manager{Name: name, Operation: merge.Update, APIVersion: Version}
}

// Apply applies members to live with force.
func Apply(t testing.TB, m *managedfields.FieldManager, live managedfields.Object, manager, members string) managedfields.Object {
	t.Helper()
	out, err := m.Apply(live, New(t, members), manager, true)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Update replaces the content of live with members.
func Update(t testing.TB, m *managedfields.FieldManager, live managedfields.Object, manager, members string) managedfields.Object {
	t.Helper()
	out, err := m.Update(live, New(t, members), manager)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// RandomConfig returns the members of a random Thing. They come from a few values, so that managers write the same fields.
func RandomConfig(r *rand.Rand) string {
	var members []string
	maybe := func(out *[]string, text string) {
		if r.IntN(2) == 0 {
			*out = append(*out, text)
		}
	}
	list := func(items ...string) string {
		var some []string
		for _, item := range items {
			maybe(&some, item)
		}
		r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		return strings.Join(some, ",")
	}
	container := func(name string) string {
		c := []string{fmt.Sprintf(`"name":%q`, name)}
		maybe(&c, fmt.Sprintf(`"image":"i%d"`, r.IntN(3)))
		maybe(&c, fmt.Sprintf(`"dir":%s`, []string{"{}", "null", `{"size":1}`, `{"size":2}`}[r.IntN(4)]))
		maybe(&c, `"ports":[`+list(`{"port":80}`, fmt.Sprintf(`{"port":81,"hostPort":%d}`, r.IntN(2)), `{"port":80,"protocol":"UDP"}`)+`]`)
		return "{" + strings.Join(c, ",") + "}"
	}
	maybe(&members, fmt.Sprintf(`"metadata":{"name":"one","namespace":"here","labels":{%s},"finalizers":[%s]}`,
		list(`"a":"1"`, fmt.Sprintf(`"b":"%d"`, r.IntN(3)), `"c":"3"`), list(`"x"`, `"y"`, `"z"`)))
	var spec []string
	maybe(&spec, fmt.Sprintf(`"replicas":%d`, r.IntN(3)))
	maybe(&spec, fmt.Sprintf(`"quota":{%s}`, list(fmt.Sprintf(`"cpu":%s`, []string{`"1"`, `"1000m"`, `1`}[r.IntN(3)]), `"memory":"1Gi"`)))
	maybe(&spec, `"args":[`+list(`"-a"`, `"-b"`)+`]`)
	maybe(&spec, `"selector":{`+list(`"app":"x"`, `"tier":"y"`)+`}`)
	maybe(&spec, `"containers":[`+list(container("main"), container("side"), container("log"))+`]`)
	maybe(&members, `"spec":{`+strings.Join(spec, ",")+`}`)
	return strings.Join(members, ",")
}

// RandomObject returns the object after a random history of several appliers and updaters.
func RandomObject(t testing.TB, r *rand.Rand) managedfields.Object {
	t.Helper()
	m := Manager(nil)
	var live managedfields.Object
	for range 1 + r.IntN(6) {
		name := []string{"ann", "bob", "eve"}[r.IntN(3)]
		if r.IntN(3) > 0 {
			live = Apply(t, m, live, name, RandomConfig(r))
		} else {
			live = Update(t, m, live, name, RandomConfig(r))
		}
	}
	return live
}

// Histories calls f with many random objects.
func Histories(t *testing.T, f func(t *testing.T, r *rand.Rand, o managedfields.Object)) {
	t.Helper()
	for seed := range seeds.Each(t, 400) {
		r := seeds.Stream(seed, 0)
		o := RandomObject(t, r)
		f(t, r, o)
		if t.Failed() {
			t.Fatalf("with object %s", o.AppendJSON(nil))
		}
	}
}
