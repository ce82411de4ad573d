package work_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

var update = flag.Bool("update", false, "record how much work operations do")

const golden = "testdata/work.txt"

// TestWork compares the work of writes of real objects with three managers with the recorded work. After a change of the engine,
// read the difference and record the new work with -update.
func TestWork(t *testing.T) {
	var got bytes.Buffer
	fmt.Fprintf(&got, "%-44s %7s %7s %9s %5s\n", "operation", "values", "nodes", "elements", "sets")
	for _, kind := range []string{"pod", "deployment"} {
		for _, o := range operations(t, kind) {
			for range 3 { // repeated values come from caches
				o.run()
			}
			c := work.Record(o.run)
			fmt.Fprintf(&got, "%-44s %7d %7d %9d %5d\n", kind+": "+o.name, c.Values, c.Nodes, c.Elements, c.Sets)
		}
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the work is\n%s\nand not, as recorded in %s,\n%s", &got, golden, want)
	}
}

type operation struct {
	name string
	run  func()
}

// writer writes objects of one kind.
type writer struct {
	*testing.T
	*managedfields.FieldManager
}

func operations(t *testing.T, kind string) []operation {
	config := read(t, kind, "a")
	w := writer{t, fieldManager(t, config.GVK())}
	live := w.apply(w.apply(w.update(managedfields.Object{}, read(t, kind, "controller"), "controller"), config, "alpha"), read(t, kind, "b"), "beta")
	relabeled := labeled(live, "changed")
	liveText, newText := live.AppendJSON(nil), relabeled.AppendJSON(nil)
	liveMap, newMap, configMap := w.maps(live), w.maps(relabeled), w.maps(labeled(config, "applied"))
	w.apply(live, config, "alpha")
	var known managedfields.Decoder
	return []operation{
		{"read text", func() { w.must(managedfields.ParseObject(liveText)) }},
		{"update one label, text", func() {
			var d managedfields.Decoder
			w.update(w.must(d.Parse(liveText)), w.must(d.Parse(newText)), "controller")
		}},
		{"update one label, text read apart", func() {
			w.update(w.must(managedfields.ParseObject(liveText)), w.must(managedfields.ParseObject(newText)), "controller")
		}},
		{"update one label, maps", func() {
			var d managedfields.Decoder
			w.update(w.must(d.FromAny(liveMap)), w.must(d.FromAny(newMap)), "controller")
		}},
		{"update one label, maps of a known object", func() {
			w.update(w.must(known.FromAny(liveMap)), w.must(known.FromAny(newMap)), "controller")
		}},
		{"apply one label, values", func() { w.apply(live, labeled(config, "applied"), "alpha") }},
		{"apply one label, maps of a known object", func() {
			w.apply(w.must(known.FromAny(liveMap)), w.must(known.FromAny(configMap)), "alpha")
		}},
		{"apply nothing new, values", func() { w.apply(live, config, "alpha") }},
	}
}

func fieldManager(t *testing.T, gvk schema.GVK) *managedfields.FieldManager {
	typ, ok := builtin.Catalog().Lookup(gvk)
	if !ok {
		t.Fatalf("no type for %v", gvk)
	}
	m, err := managedfields.New(managedfields.Config{
		GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ},
		Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read reads a manifest.
func read(t *testing.T, kind, name string) managedfields.Object {
	file := filepath.Join("../../testdata/manifests", kind, name+".yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	documents, err := yaml.Parse(file, text)
	if err != nil || len(documents) != 1 {
		t.Fatalf("%s: %d documents, error %v", file, len(documents), err)
	}
	o, err := managedfields.ObjectOf(documents[0].Value)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func labeled(o managedfields.Object, label string) managedfields.Object {
	metadata := o.Content.Get("metadata")
	labels := metadata.Get("labels").With("example.com/label", value.String(label))
	o.Content = o.Content.With("metadata", metadata.With("labels", labels))
	return o
}

func (w writer) must(o managedfields.Object, err error) managedfields.Object {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	return o
}

func (w writer) update(live, object managedfields.Object, manager string) managedfields.Object {
	w.Helper()
	return w.must(w.Update(live, object, manager))
}

func (w writer) apply(live, config managedfields.Object, manager string) managedfields.Object {
	w.Helper()
	return w.must(w.Apply(live, config, manager, true))
}

func (w writer) maps(o managedfields.Object) map[string]any {
	v, err := o.Value()
	if err != nil {
		w.Fatal(err)
	}
	content, _ := v.ToAny().(map[string]any)
	return content
}

// TestGrowth checks that a field of a large object costs at most one and a half times the work of a field in a smaller one.
func TestGrowth(t *testing.T) {
	least := map[string]float64{}
	for fields := 10; fields <= 100_000; fields *= 10 {
		object := configMap(fields)
		w := writer{t, fieldManager(t, object.GVK())}
		live := w.apply(w.update(managedfields.Object{}, object, "controller"), object, "alpha")
		liveMap, newMap := w.maps(live), w.maps(labeled(live, "changed"))
		var known managedfields.Decoder
		for _, o := range []operation{
			{"update", func() {
				w.update(w.must(known.FromAny(liveMap)), w.must(known.FromAny(newMap)), "controller")
			}},
			{"apply", func() { w.apply(live, labeled(object, "applied"), "alpha") }},
			{"apply nothing new", func() { w.apply(live, object, "alpha") }},
		} {
			o.run()
			c := work.Record(o.run)
			if c.Sets > 0 {
				t.Errorf("%s of %d fields read %d sets again", o.name, fields, c.Sets)
			}
			cost := float64(c.Values+c.Nodes+c.Elements) / float64(fields)
			if known, ok := least[o.name]; ok && cost > 1.5*known {
				t.Errorf("%s of %d fields: %.1f a field, and %.1f in a smaller object", o.name, fields, cost, known)
			} else if !ok || cost < known {
				least[o.name] = cost
			}
		}
	}
}

// configMap returns an object with the given number of fields.
func configMap(fields int) managedfields.Object {
	data := make([]value.Member, fields)
	for i := range data {
		data[i] = value.Member{Name: fmt.Sprintf("setting-%05d", i), Value: value.String("on")}
	}
	return managedfields.Object{Content: value.Object(
		value.Member{Name: "apiVersion", Value: value.String("v1")},
		value.Member{Name: "kind", Value: value.String("ConfigMap")},
		value.Member{Name: "metadata", Value: value.Object(value.Member{Name: "name", Value: value.String("settings")})},
		value.Member{Name: "data", Value: value.Object(data...)},
	)}
}

// TestRecord checks that work is counted during a recording, and only then.
func TestRecord(t *testing.T) {
	count := work.Counts{Values: 1, Nodes: 2, Elements: 3, Sets: 4}
	work.Add(count)
	if got := work.Record(func() { work.Add(count) }); got != count {
		t.Errorf("recorded %+v, want %+v", got, count)
	}
	if got := work.Record(func() {}); got != (work.Counts{}) {
		t.Errorf("recorded %+v of nothing", got)
	}
}
