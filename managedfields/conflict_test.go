package managedfields_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

// TestNumbersInConflicts shows that the large key of an item is printed with an exponent when its owner was read from managed
// fields, and in decimal when the owner was found in an object without any.
func TestNumbersInConflicts(t *testing.T) {
	key := schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}
	item := schema.TypeRef{Inlined: schema.Atom{Map: &schema.MapDef{Fields: []schema.FieldDef{{Name: "k", Type: key}, {Name: "v", Type: key}}}}}
	deduced := schema.TypeRef{NamedType: schema.DeducedName}
	s, err := schema.Compile(&schema.Document{Types: append(schemas.DeducedTypes(), schema.TypeDef{Name: "t", Atom: schema.Atom{
		Map: &schema.MapDef{
			Fields: []schema.FieldDef{{Name: "l", Type: schema.TypeRef{Inlined: schema.Atom{List: &schema.ListDef{
				ElementType: item, Relationship: schema.Associative, Keys: []string{"k"},
			}}}}},
			ElementType: deduced,
		},
	}})})
	if err != nil {
		t.Fatal(err)
	}
	typ := s["t"]
	m, err := managedfields.New(managedfields.Config{
		GVK: schema.GVK{Version: "v1", Kind: "T"}, Types: map[string]*schema.Type{"v1": typ},
	})
	if err != nil {
		t.Fatal(err)
	}
	object := func(metadata, v string) managedfields.Object {
		o, err := managedfields.ParseObject([]byte(`{"apiVersion":"v1","kind":"T","metadata":` + metadata + `,"l":[{"k":1000000,"v":` + v + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for metadata, want := range map[string]string{
		`{}`: `Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .l[k=1000000].v`,
		`{"managedFields":[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
			"fieldsV1":{"f:l":{"k:{\"k\":1000000}":{"f:v":{}}}}}]}`: `Apply failed with 1 conflict: conflict with "a" using v1: .l[k=1e+06].v`,
	} {
		_, err := m.Apply(object(metadata, "1"), object(`{}`, "2"), "b", false)
		if err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		if status := managedfields.ToStatus(err); status.Message != want {
			t.Errorf("got the message %s\nwant %s", status.Message, want)
		}
	}
}

// TestManyConflicts is about thousands of conflicts and of wrong values that are deep in an object: their paths are longer than the object by
// far, so that only some are told apart.
func TestManyConflicts(t *testing.T) {
	const depth, leaves = 500, 5000
	typ := deducedType(t)
	m, err := managedfields.New(managedfields.Config{GVK: schema.GVK{Version: "v1", Kind: "T"}, Types: map[string]*schema.Type{"v1": typ}})
	if err != nil {
		t.Fatal(err)
	}
	object := func(v string) managedfields.Object {
		var members strings.Builder
		for i := range leaves {
			fmt.Fprintf(&members, `"m%d":%s,`, i, v)
		}
		o, err := managedfields.ParseObject([]byte(`{"apiVersion":"v1","kind":"T","metadata":{},"a":` + strings.Repeat(`{"a":`, depth) +
			"{" + strings.TrimSuffix(members.String(), ",") + "}" + strings.Repeat("}", depth) + "}"))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	live, err := m.Apply(managedfields.Object{}, object("1"), "one", false)
	if err != nil {
		t.Fatal(err)
	}
	changed := object("2")
	before := allocated()
	_, err = m.Apply(live, changed, "two", false)
	status := managedfields.ToStatus(err)
	if bytes := allocated() - before; bytes > 64<<20 {
		t.Errorf("%d bytes are allocated", bytes)
	}
	var named merge.Conflicts
	if !errors.As(err, &named) || len(named) < 100 || len(named) == leaves {
		t.Errorf("%d conflicts are told apart", len(named))
	}
	const begin, end = "Apply failed with 5000 conflicts: conflicts with \"one\":\n- .a.a.a", " more"
	if text := status.Message; !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) || len(text) > 2<<20 {
		t.Errorf("the message, of %d bytes, begins with %.100s", len(text), text)
	}
	causes := status.Details.Causes
	if last := causes[len(causes)-1]; !strings.HasSuffix(last.Message, end) || status.Code != 409 {
		t.Errorf("%d, and the last of %d causes is %v", status.Code, len(causes), last)
	}
	all, err := m.Plan(live, changed, "two")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all.Conflicts()); n != leaves {
		t.Errorf("the plan has %d conflicts", n)
	}
}

// deducedType is the type of objects without a schema.
func deducedType(t *testing.T) *schema.Type {
	t.Helper()
	s, err := schema.Compile(&schema.Document{Types: append(schemas.DeducedTypes(), schema.TypeDef{Name: "t", Atom: schema.Atom{
		Map: &schema.MapDef{ElementType: schema.TypeRef{NamedType: schema.DeducedName}},
	}})})
	if err != nil {
		t.Fatal(err)
	}
	return s["t"]
}

// allocated returns how many bytes the process allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
