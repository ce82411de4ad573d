package typed_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// oddKeys is the type of an object with a list whose keys may be anything, and with objects in objects.
const oddKeys = `{"types":[{"name":"root","map":{"fields":[{"name":"list","type":{"list":{
	"elementRelationship":"associative","keys":["key"],"elementType":{"map":{"fields":[
		{"name":"key","type":{"namedType":"__untyped_atomic_"}},{"name":"value","type":{"scalar":"string"}}]}}}}},
	{"name":"deep","type":{"namedType":"deep"}}]}},
	{"name":"deep","map":{"elementType":{"namedType":"deep"}}},
	{"name":"__untyped_atomic_","scalar":"untyped","list":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"},
		"map":{"elementType":{"namedType":"__untyped_atomic_"},"elementRelationship":"atomic"}}]}`

// keyMakers make the keys of hostile lists: number i, which differs from all others.
var keyMakers = map[string]func(i int) value.Value{
	"objects": func(i int) value.Value { return value.Object(value.Member{Name: "id", Value: value.Int(int64(i))}) },
	"lists":   func(i int) value.Value { return value.List(value.Int(0), value.String(fmt.Sprint(i))) },
	"flags": func(i int) value.Value {
		var bits []value.Value
		for range 16 {
			bits = append(bits, value.Bool(i&1 == 1))
			i >>= 1
		}
		return value.List(bits...)
	},
	"names": func(i int) value.Value {
		return value.Object(value.Member{Name: fmt.Sprint("m", i), Value: value.Null()})
	},
	"floats": func(i int) value.Value { return value.Float(float64(i) + 0.5) },
	"nested": func(i int) value.Value { return value.List(value.List(value.List(value.Int(int64(i))))) },
}

func withList(t *testing.T, root *schema.Type, n int, key func(int) value.Value, text string) typed.Value {
	t.Helper()
	items := make([]value.Value, n)
	for i := range items {
		items[i] = value.Object(value.Member{Name: "key", Value: key(i)}, value.Member{Name: "value", Value: value.String(text)})
	}
	v, err := typed.New(value.Object(value.Member{Name: "list", Value: value.List(items...)}), root)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// reversed returns v with the items of its list the other way round.
func reversed(t *testing.T, v typed.Value) typed.Value {
	t.Helper()
	items := slices.Collect(v.Content().Get("list").Items())
	slices.Reverse(items)
	out, err := typed.New(v.Content().With("list", value.List(items...)), v.Type())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever the keys of a list are, its items are told apart without comparing each with each.
func TestListsWithOddKeys(t *testing.T) {
	root := typeOf(t, oddKeys)
	for name, key := range keyMakers {
		for _, op := range []struct {
			name string
			run  func(a, b typed.Value)
		}{
			{"New", func(a, _ typed.Value) { typed.New(a.Content(), root) }},
			{"Merge", func(a, b typed.Value) { typed.Merge(a, b) }},
			{"Compare", func(a, b typed.Value) { typed.Compare(a, b) }},
		} {
			pairs := func(n int) int {
				a, b := withList(t, root, n, key, "x"), reversed(t, withList(t, root, n, key, "y"))
				return work.Record(func() { op.run(a, b) }).Pairs
			}
			if got := pairs(1000); got > 12*1000 {
				t.Errorf("%s with %s as keys compares %d pairs of items for 1,000 items", op.name, name, got)
			}
		}
	}
}

// Extracting and removing visit each place once, also where rule X6 extracts many objects by one set.
func TestPartsAreTakenInLinearTime(t *testing.T) {
	root := typeOf(t, oddKeys)
	wide := func(n int) (typed.Value, fieldpath.Set) {
		var members []value.Member
		var paths []fieldpath.Path
		for i := range n {
			name := fmt.Sprint("m", i)
			inner := value.Object(value.Member{Name: name, Value: value.Object(value.Member{Name: "m0", Value: value.Null()})})
			members = append(members, value.Member{Name: name, Value: inner})
			paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
		}
		v, err := typed.New(value.Object(value.Member{Name: "deep", Value: value.Object(members...)}), root)
		if err != nil {
			t.Fatal(err)
		}
		return v, fieldpath.SetOf(append(paths, fieldpath.Path{fieldpath.Field("deep")})...)
	}
	list := func(n int) (typed.Value, fieldpath.Set) {
		v := withList(t, root, n, keyMakers["objects"], "x")
		return v, v.Fields().Leaves()
	}
	for name, make := range map[string]func(int) (typed.Value, fieldpath.Set){"objects": wide, "items": list} {
		for _, op := range []struct {
			name string
			run  func(typed.Value, fieldpath.Set)
		}{
			{"Extract", func(v typed.Value, s fieldpath.Set) { v.Extract(s) }},
			{"ExtractWithKeys", func(v typed.Value, s fieldpath.Set) { typing.ExtractWithKeys(v, s) }},
			{"Remove", func(v typed.Value, s fieldpath.Set) { v.Remove(s) }},
		} {
			count := func(n int) int {
				v, s := make(n)
				c := work.Record(func() { op.run(v, s) })
				return c.Nodes + c.Steps + c.Elements
			}
			if one, four := count(300), count(1200); one == 0 || four > 4*one+one/10 {
				t.Errorf("%s of %s visits %d nodes for 300, and %d for 1,200", op.name, name, one, four)
			}
		}
	}
}
