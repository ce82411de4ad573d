package builtin

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

func gvk(group, version, kind string) schema.GVK {
	return schema.GVK{Group: group, Version: version, Kind: kind}
}

func TestCatalogKnowsEveryGroup(t *testing.T) {
	kinds := 0
	for gvk, typ := range Catalog().Kinds() {
		kinds++
		if err := typ.Err(); err != nil {
			t.Errorf("%v: %v", gvk, err)
		}
		if m := typ.Map(); m == nil || m.Atomic() {
			t.Errorf("%v is no granular object", gvk)
		}
	}
	if kinds < 200 {
		t.Errorf("%d kinds, want 200 or more", kinds)
	}
	for _, want := range []schema.GVK{
		gvk("", "v1", "Pod"), gvk("apps", "v1", "Deployment"), gvk("apps", "v1beta2", "Deployment"),
		gvk("autoscaling", "v1", "HorizontalPodAutoscaler"), gvk("autoscaling", "v2", "HorizontalPodAutoscaler"),
		gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), gvk("apiregistration.k8s.io", "v1", "APIService"),
	} {
		if _, ok := Catalog().Lookup(want); !ok {
			t.Errorf("the catalog lacks %v", want)
		}
	}
	if _, ok := Catalog().Lookup(gvk("", "v1", "PodList")); ok {
		t.Error("the catalog has a type for lists of Pods")
	}
}

// at returns the type at a path of field names; [] steps into the items of a list, {} into the members of a map.
func at(t *testing.T, typ *schema.Type, path string) *schema.Type {
	t.Helper()
	for step := range strings.SplitSeq(path, ".") {
		switch {
		case step == "[]" && typ.List() != nil:
			typ = typ.List().Element()
		case step == "{}" && typ.Map() != nil:
			typ = typ.Map().Element()
		case typ.Map() != nil:
			typ, _ = typ.Map().Lookup(step)
		default:
			typ = nil
		}
		if typ == nil {
			t.Fatalf("%s: there is no %s", path, step)
		}
	}
	return typ
}

// topology describes a type in a few words.
func topology(typ *schema.Type) string {
	switch l, m := typ.List(), typ.Map(); {
	case l != nil && m != nil && m.Atomic():
		return "atomic anything"
	case l != nil && m != nil:
		return "anything"
	case l != nil && l.Topology() == schema.SetList:
		return "set"
	case l != nil && l.Topology() == schema.KeyedList:
		var keys []string
		for _, k := range l.Keys() {
			key := k.Name
			if !k.Default.IsAbsent() {
				key += "=" + k.Default.String()
			}
			keys = append(keys, key)
		}
		return "keyed by " + strings.Join(keys, ", ")
	case l != nil && l.Topology() == schema.AtomicList:
		return "atomic list"
	case m != nil && m.Atomic():
		return "atomic map"
	case m != nil:
		return "map"
	}
	return typ.Scalar().String()
}

func TestTopologies(t *testing.T) {
	for _, test := range []struct {
		kind schema.GVK
		path string
		want string
	}{
		{gvk("", "v1", "Pod"), "metadata.finalizers", "set"},
		{gvk("", "v1", "Pod"), "metadata.ownerReferences", `keyed by uid=""`},
		{gvk("", "v1", "Pod"), "metadata.ownerReferences.[]", "atomic map"},
		{gvk("", "v1", "Pod"), "metadata.labels", "map"},
		{gvk("", "v1", "Pod"), "metadata.labels.{}", "string"},
		{gvk("", "v1", "Pod"), "metadata.creationTimestamp", "untyped"},
		{gvk("", "v1", "Pod"), "spec.nodeSelector", "atomic map"},
		{gvk("", "v1", "Pod"), "spec.tolerations", "atomic list"},
		{gvk("", "v1", "Pod"), "spec.containers", `keyed by name=""`},
		{gvk("", "v1", "Pod"), "spec.containers.[].ports", `keyed by containerPort=0, protocol="TCP"`},
		{gvk("", "v1", "Pod"), "spec.containers.[].volumeMounts", `keyed by mountPath=""`},
		{gvk("", "v1", "Pod"), "spec.containers.[].livenessProbe.httpGet.port", "anything"},
		{gvk("", "v1", "Pod"), "spec.topologySpreadConstraints", `keyed by topologyKey="", whenUnsatisfiable=""`},
		{gvk("", "v1", "Service"), "spec.ports", `keyed by port=0, protocol="TCP"`},
		{gvk("apps", "v1", "Deployment"), "spec.selector", "atomic map"},
		{gvk("apps", "v1", "Deployment"), "spec.replicas", "numeric"},
		{gvk("apps", "v1", "ControllerRevision"), "data", "atomic anything"},
		{gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), "spec.versions", "atomic list"},
		{gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), "status.conditions", `keyed by type=""`},
		{gvk("apiregistration.k8s.io", "v1", "APIService"), "spec.insecureSkipTLSVerify", "boolean"},
	} {
		typ, ok := Catalog().Lookup(test.kind)
		if !ok {
			t.Errorf("the catalog lacks %v", test.kind)
			continue
		}
		if got := topology(at(t, typ, test.path)); got != test.want {
			t.Errorf("%s of %v: %s, want %s", test.path, test.kind, got, test.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, test := range []struct {
		kind schema.GVK
		want string
	}{
		{gvk("", "v1", "ConfigMap"), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}`},
		{gvk("scheduling.k8s.io", "v1", "PriorityClass"), `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{},"value":0}`},
		{gvk("apps", "v1", "DeleteOptions"), `{"apiVersion":"apps/v1","kind":"DeleteOptions"}`},
	} {
		if got, ok := Empty(test.kind); !ok || got.String() != test.want {
			t.Errorf("Empty(%v) = %v, %t; want %s", test.kind, got, ok, test.want)
		}
	}
	if got, ok := Empty(gvk("example.org", "v1", "Widget")); ok || !got.IsAbsent() {
		t.Errorf("a custom kind has the empty object %v", got)
	}
}

func TestDamagedFiles(t *testing.T) {
	for _, test := range []struct{ types, gvks, reason string }{
		{"", `{`, "invalid JSON"},
		{`{"name":"a",`, "", "a: invalid JSON"},
		{`{"name":"a","scalar":1}`, "", "scalar"},
		{`{"name":"a","list":{"elementType":{"namedType":"b"},"elementRelationship":"atomic"}}`, "", "b"},
		{`{"name":"a","scalar":"string"}`, `{"group":"g","version":"v1","kind":"K","type":"b"}`, `has the type "b"`},
	} {
		k, err := load(fmt.Sprintf("{\"types\":[\n%s\n],\"gvks\":[\n%s\n]}\n", test.types, test.gvks))
		if err == nil {
			_, err = k.catalog()
		}
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("load of %s and %s answered %v, want an error with %q", test.types, test.gvks, err, test.reason)
		}
	}
	if _, err := load(written[:len(written)-4]); err == nil {
		t.Error("load accepted a file that is cut short")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		k, err := load(written)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := k.catalog(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTypesInAnyOrder compiles kinds one after the other, and compares their types with those that are compiled together: each is made
// once, with what it refers to and nothing else.
func TestTypesInAnyOrder(t *testing.T) {
	together, err := load(written)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := together.catalog()
	if err != nil {
		t.Fatal(err)
	}
	alone, err := load(written)
	if err != nil {
		t.Fatal(err)
	}
	namespace := alone.entries[gvk("", "v1", "Namespace")].typeName
	first, err := alone.compile(namespace)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first); n > 20 {
		t.Errorf("a namespace takes %d types of %d", n, len(alone.written))
	}
	for gvk, e := range alone.entries {
		types, err := alone.compile(e.typeName)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := catalog.Lookup(gvk)
		if err := sameTypes(types[e.typeName], want, map[[2]*schema.Type]bool{}); err != nil {
			t.Errorf("%v: %v", gvk, err)
		}
	}
	if again, err := alone.compile(namespace); err != nil || again[namespace] != first[namespace] {
		t.Errorf("a type was compiled twice: %v", err)
	}
}

// sameTypes returns how two types differ, which may refer to themselves. seen are pairs that are compared already.
func sameTypes(a, b *schema.Type, seen map[[2]*schema.Type]bool) error {
	if pair := [2]*schema.Type{a, b}; seen[pair] || a == nil && b == nil {
		return nil
	} else {
		seen[pair] = true
	}
	switch {
	case a == nil || b == nil || a.Name() != b.Name() || a.Scalar() != b.Scalar() || a.Err() != nil || b.Err() != nil,
		(a.List() == nil) != (b.List() == nil), (a.Map() == nil) != (b.Map() == nil):
		return fmt.Errorf("%+v is not %+v", a, b)
	}
	if l, m := a.List(), b.List(); l != nil {
		if l.Topology() != m.Topology() || fmt.Sprint(l.Keys()) != fmt.Sprint(m.Keys()) {
			return fmt.Errorf("%s: %+v is not %+v", a.Name(), l, m)
		}
		if err := sameTypes(l.Element(), m.Element(), seen); err != nil {
			return fmt.Errorf("%s: %w", a.Name(), err)
		}
	}
	l, m := a.Map(), b.Map()
	if l == nil {
		return nil
	}
	if l.Atomic() != m.Atomic() || len(l.Fields()) != len(m.Fields()) {
		return fmt.Errorf("%s: %+v is not %+v", a.Name(), l, m)
	}
	for i, field := range l.Fields() {
		other := m.Fields()[i]
		if field.Name != other.Name || !field.Default.Equal(other.Default) {
			return fmt.Errorf("%s: %+v is not %+v", a.Name(), field, other)
		}
		if err := sameTypes(field.Type, other.Type, seen); err != nil {
			return fmt.Errorf("%s.%s: %w", a.Name(), field.Name, err)
		}
	}
	return sameTypes(l.Element(), m.Element(), seen)
}

// TestNoKind asks what Lookup returns for a kind that is none.
func TestNoKind(t *testing.T) {
	none, ok := Lookup(schema.GVK{Version: "v1", Kind: "Pot"})
	pods, _ := Lookup(schema.GVK{Version: "v1", Kind: "Pod"})
	if ok || none != nil {
		t.Fatalf("a Pot is %v", none)
	}
	object := value.Object(value.Member{Name: "kind", Value: value.String("Pot")})
	for _, k := range []*Kind{none, {}, none.WithClock(time.Now)} {
		var unserved *UnservedError
		for name, call := range map[string]func() (value.Value, error){
			"Held":    func() (value.Value, error) { return k.Held(object) },
			"Stored":  func() (value.Value, error) { return k.Stored(object) },
			"Store":   func() (value.Value, error) { return k.Store("", value.Value{}, object, object) },
			"Convert": func() (value.Value, error) { return k.Convert(object, pods) },
			"Config":  func() (value.Value, error) { _, err := k.Config(""); return value.Value{}, err },
		} {
			if got, err := call(); !errors.As(err, &unserved) {
				t.Errorf("%s returns %v (%v)", name, got, err)
			}
		}
		if got, err := pods.Convert(object, k); !errors.As(err, &unserved) {
			t.Errorf("a pod is converted to %v (%v)", got, err)
		}
		if got := k.Prepare("", value.Value{}, object, object); !got.Same(object) || k.Form() != nil || k.Replicas() != nil {
			t.Errorf("%v is prepared as %v, for a kind that has something", object, got)
		}
	}
}
