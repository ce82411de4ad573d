package ownership_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Objects of built-in kinds whose versions differ in more than their names.
var versioned = []string{
	`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","labels":{"l":"x"}},
	  "spec":{"maxReplicas":5,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},
	  "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":70}}}]}}`,
	`{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},
	  "spec":{"minReplicas":1,"maxReplicas":5,"scaleTargetRef":{"kind":"Deployment","name":"web"},
	  "behavior":{"scaleDown":{"stabilizationWindowSeconds":60}},
	  "metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},
	             {"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":50}}}]}}`,
	`{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a","annotations":{"k":"y"}},
	  "spec":{"minReplicas":2,"maxReplicas":5,"scaleTargetRef":{"kind":"Deployment","name":"web"},"targetCPUUtilizationPercentage":80}}`,
	`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a","labels":{"l":"x"}},
	  "spec":{"devices":{"requests":[{"name":"gpu","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}},
	                                 {"name":"any","firstAvailable":[{"name":"s","deviceClassName":"gpu","allocationMode":"All"}]}]}}}`,
	`{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim","metadata":{"name":"a"},
	  "spec":{"devices":{"requests":[{"name":"gpu","deviceClassName":"gpu","allocationMode":"ExactCount","count":1}]}}}`,
}

// TestOwnersConflict checks the owners by entries of several versions: a manager owns a part exactly if an apply that changes one scalar in this
// part, and nothing else, conflicts with the manager.
func TestOwnersConflict(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compared, across := 0, 0
	for range 400 {
		content := kindtest.Parse(t, versioned[r.IntN(len(versioned))])
		config, err := builtin.Config(schema.ParseGVK(content.Get("apiVersion").Str(), content.Get("kind").Str()))
		if err != nil {
			t.Fatal(err)
		}
		m, err := managedfields.New(config)
		if err != nil {
			t.Fatal(err)
		}
		live := managedfields.Object{Content: content, Entries: randomEntries(t, r, content, config)}
		own := content.Get("apiVersion").Str()
		owned, err := ownership.Owners(live, config.Types[own], &ownership.Versions{Types: config.Types, Converter: config.Converter})
		if err != nil {
			t.Fatal(err)
		}
		for part := range owned {
			if part.Through != nil || part.Part == "item" || part.Path[0] != fieldpath.Field("spec") && len(part.Path) < 3 {
				continue
			}
			configs := appliesOf(t, live.Content, config.Types[own], part)
			if len(configs) == 0 {
				continue
			}
			want, got := map[string]bool{}, map[string]bool{}
			for _, config := range configs {
				plan, err := m.Plan(live, managedfields.Object{Content: config}, "zed")
				if err != nil {
					t.Fatalf("%s\n%s: %v", live.AppendJSON(nil), config, err)
				}
				for _, c := range plan.Conflicts() {
					want[c.Owner.Manager.Name] = true
				}
			}
			for _, o := range part.Owners {
				got[o.Manager.Name] = true
				if o.APIVersion != own {
					across++
				}
			}
			if compared++; !maps.Equal(got, want) {
				t.Errorf("%s\n%s is owned by %v, and conflicts are with %v", live.AppendJSON(nil), part.Path.Text(),
					slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		}
	}
	if compared < 1000 || across < 300 {
		t.Errorf("only %d parts were compared, %d of them across versions", compared, across)
	}
}

// randomEntries returns up to three managers of random leaves of an object, each in a random version.
func randomEntries(t *testing.T, r *rand.Rand, content value.Value, config managedfields.Config) []managedfields.Entry {
	var all []merge.Entry
	for _, name := range []string{"ann", "bob", "cat"}[:1+r.IntN(3)] {
		versions := slices.Sorted(maps.Keys(config.Types))
		apiVersion := versions[r.IntN(len(versions))]
		converted := content
		if apiVersion != content.Get("apiVersion").Str() {
			var err error
			if converted, err = config.Converter.Convert(content, apiVersion); err != nil {
				t.Fatal(err)
			}
		}
		object, err := typed.New(converted, config.Types[apiVersion])
		if err != nil {
			t.Fatal(err)
		}
		var fields fieldpath.Builder
		for path := range object.Fields().Leaves().All() {
			if text := path.Text(); r.IntN(3) == 0 && (strings.HasPrefix(text, ".spec") || strings.HasPrefix(text, ".metadata.labels.")) {
				fields.Add(path)
			}
		}
		all = append(all, merge.Entry{
			Manager: merge.Manager{Name: name, Operation: merge.Apply}, APIVersion: apiVersion, Fields: fields.Set(),
		})
	}
	return managedfields.Encode(merge.ManagersOf(all...))
}

// appliesOf returns configurations that change a scalar in part of an object of type kind, and nothing else. There is none if part is a key of
// an item.
func appliesOf(t *testing.T, content value.Value, kind *schema.Type, part ownership.Owned) []value.Value {
	object, err := typed.New(content, kind)
	if err != nil {
		t.Fatal(err)
	}
	var fields fieldpath.Builder
	fields.Add(part.Path)
	for i, e := range part.Path {
		for _, key := range e.Fields() {
			name := fieldpath.Field(key.Name)
			if i+2 == len(part.Path) && part.Path[i+1] == name {
				return nil
			}
			fields.Add(append(slices.Clone(part.Path[:i+1]), name))
		}
	}
	config := object.Extract(fields.Set()).Content()
	for _, name := range []string{"apiVersion", "kind"} {
		config = config.With(name, content.Get(name))
	}
	config = config.With("metadata", config.Get("metadata").With("name", content.Get("metadata", "name")))
	var out []value.Value
	for _, v := range changed(part.Value) {
		out = append(out, replaced(config, part.Path, v))
	}
	return out
}

// replaced returns v with the value at path replaced. Each list on the path has one item.
func replaced(v value.Value, path fieldpath.Path, with value.Value) value.Value {
	switch {
	case len(path) == 0:
		return with
	case path[0].Kind() == fieldpath.KindField:
		return v.With(path[0].Name(), replaced(v.Get(path[0].Name()), path[1:], with))
	}
	return value.List(replaced(v.Item(0), path[1:], with))
}

// changed returns values like v in which one scalar is another one.
func changed(v value.Value) (out []value.Value) {
	switch v.Kind() {
	case value.KindInt:
		return []value.Value{value.Int(v.Int() + 1)}
	case value.KindString:
		return []value.Value{value.String(v.Str() + "x")}
	case value.KindBool:
		return []value.Value{value.Bool(!v.Bool())}
	case value.KindList:
		for i := range v.Len() {
			for _, item := range changed(v.Item(i)) {
				items := slices.Collect(v.Items())
				items[i] = item
				out = append(out, value.List(items...))
			}
		}
	case value.KindObject:
		for name, member := range v.Members() {
			for _, member := range changed(member) {
				out = append(out, v.With(name, member))
			}
		}
	}
	return out
}
