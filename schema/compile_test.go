package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
)

func TestCompileProblems(t *testing.T) {
	tests := []struct {
		name, types string // types in the text form
		want        []string
	}{
		{"type without atom", `{"name":"a"}`, []string{`type "a": admits neither scalar, list nor map`}},
		{"unknown scalar", `{"name":"a","scalar":"number"}`, []string{`type "a": unknown scalar`}},
		{"dangling reference", `{"name":"a","map":{"fields":[{"name":"f","type":{"namedType":"b"}}],"elementType":{"namedType":"c"}}}`, []string{
			`type "a": map.fields[f].type: refers to type "b", which is not defined`,
			`type "a": map.elementType: refers to type "c", which is not defined`}},
		{"field without type", `{"name":"a","map":{"fields":[{"name":"f"}]}}`, []string{
			`type "a": map.fields[f].type: admits neither scalar, list nor map`}},
		{"list without items", `{"name":"a","list":{"elementRelationship":"atomic"}}`, []string{
			`type "a": list.elementType: admits neither scalar, list nor map`}},
		{"list without relationship", `{"name":"a","list":{"elementType":{"scalar":"string"}}}`, []string{
			`type "a": list: a list needs the relationship atomic or associative, not ""`}},
		{"separable list", `{"name":"a","list":{"elementType":{"scalar":"string"},"elementRelationship":"separable"}}`, []string{
			`type "a": list: a list needs the relationship atomic or associative, not "separable"`}},
		{"unknown relationship of a map", `{"name":"a","map":{"elementType":{"scalar":"string"},"elementRelationship":"granular"}}`, []string{
			`type "a": map: unknown relationship "granular"`}},
		{"keyed list of scalars", `{"name":"a","list":{"elementType":{"scalar":"string"},"elementRelationship":"associative","keys":["k"]}}`, []string{
			`type "a": list: has keys, but its items are no objects`}},
		{"undeclared key", `{"name":"a","list":{"elementType":{"map":{"fields":[{"name":"x","type":{"scalar":"string"}}]}},
			"elementRelationship":"associative","keys":["x","k"]}}`, []string{
			`type "a": list: has the key "k", which its items do not declare`}},
		{"undeclared key of an open map", `{"name":"a","list":{"elementType":{"map":{"elementType":{"scalar":"string"}}},
			"elementRelationship":"associative","keys":["k"]}}`, nil},
		{"override of a scalar, at each place", `{"name":"s","scalar":"string"},
			{"name":"a","map":{"fields":[{"name":"f","type":{"namedType":"s","elementRelationship":"atomic"}},
			{"name":"g","type":{"namedType":"s","elementRelationship":"atomic"}}],
			"elementType":{"scalar":"string","elementRelationship":"atomic"}}}`, []string{
			`type "a": map.fields[f].type: overrides the relationship of a type that has neither map nor list`,
			`type "a": map.fields[g].type: overrides the relationship of a type that has neither map nor list`,
			`type "a": map.elementType: overrides the relationship of a type that has neither map nor list`}},
		{"defects of keys once, not again by an override", `{"name":"l","list":{"elementType":{"scalar":"string"},"elementRelationship":"associative","keys":["k"]}},
			{"name":"a","map":{"elementType":{"namedType":"l","elementRelationship":"atomic"}}}`, []string{
			`type "l": list: has keys, but its items are no objects`}},
		{"recursion", `{"name":"a","map":{"elementType":{"namedType":"a"}}}`, nil},
		{"inside an inlined type", `{"name":"a","map":{"fields":[{"name":"f","type":{"list":{"elementType":{"namedType":"b"},"elementRelationship":"atomic"}}}]}}`, []string{
			`type "a": map.fields[f].type.list.elementType: refers to type "b", which is not defined`}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			_, err := schema.Compile(document(t, c.types))
			if got := messages(err); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// Documents written in Go may define a name twice; the last definition counts.
func TestCompileDuplicates(t *testing.T) {
	str, num := schema.TypeRef{Inlined: schema.Atom{Scalar: schema.String}}, schema.TypeRef{Inlined: schema.Atom{Scalar: schema.Numeric}}
	s, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{
		{Name: "a", Atom: schema.Atom{Scalar: schema.String}},
		{Name: "a", Atom: schema.Atom{Map: &schema.MapDef{Fields: []schema.FieldDef{
			{Name: "f", Type: str}, {Name: "e", Type: str}, {Name: "f", Type: num},
		}}}},
	}})
	want := []string{`type "a": defined twice`, `type "a": map: field "f" is declared twice`}
	if got := messages(err); !slices.Equal(got, want) {
		t.Errorf("got problems %q, want %q", got, want)
	}
	var p *schema.Error
	if !errors.As(err, &p) || p.Type != "a" {
		t.Errorf("got error %v, want an *Error in type a", err)
	}
	a := s["a"]
	if f, declared := a.Map().Lookup("f"); !declared || f.Scalar() != schema.Numeric || len(a.Map().Fields()) != 2 {
		t.Errorf("field f is %v of %d fields, want the numeric one of 2", f.Scalar(), len(a.Map().Fields()))
	}
	if a.Scalar() != schema.None {
		t.Errorf("type a admits %v, but its last definition is a map", a.Scalar())
	}
}

func TestCompileOverrides(t *testing.T) {
	const named = `
		{"name":"map","map":{"elementType":{"scalar":"string"}}},
		{"name":"atomic","map":{"elementType":{"scalar":"string"},"elementRelationship":"atomic"}},
		{"name":"item","map":{"fields":[{"name":"k","type":{"scalar":"string"},"default":"d"}]}},
		{"name":"keyed","list":{"elementType":{"namedType":"item"},"elementRelationship":"associative","keys":["k"]}},
		{"name":"plain","list":{"elementType":{"scalar":"string"},"elementRelationship":"atomic"}},
		{"name":"both","map":{"elementType":{"scalar":"string"}},"list":{"elementType":{"scalar":"string"},"elementRelationship":"associative"}},
		{"name":"root","map":{"fields":[`
	tests := []struct{ ref, want string }{
		{`"namedType":"map"`, "granular"},
		{`"namedType":"map","elementRelationship":"atomic"`, "atomic"},
		{`"namedType":"atomic","elementRelationship":"separable"`, "granular"},
		{`"namedType":"atomic","elementRelationship":"associative"`, "granular"},
		{`"namedType":"keyed","elementRelationship":"atomic"`, "list atomic"},
		{`"namedType":"keyed","elementRelationship":"associative"`, `list by k="d"`},
		{`"namedType":"keyed","elementRelationship":"separable"`, "list incomplete"},
		{`"namedType":"plain","elementRelationship":"associative"`, "list set"},
		{`"namedType":"both","elementRelationship":"atomic"`, "atomic, list set"},
		{`"map":{"elementType":{"scalar":"string"}},"elementRelationship":"atomic"`, "atomic"},
		{`"list":{"elementType":{"namedType":"item"},"elementRelationship":"atomic","keys":["k"]},"elementRelationship":"associative"`, `list by k="d"`},
	}
	for _, c := range tests {
		s, err := schema.Compile(document(t, named+`{"name":"f","type":{`+c.ref+`}}]}}`))
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		root := s["root"]
		f, _ := root.Map().Lookup("f")
		if got := topology(f); got != c.want {
			t.Errorf("%s: got %s, want %s", c.ref, got, c.want)
		}
	}
}

// topology describes how t merges.
func topology(t *schema.Type) string {
	var out []string
	if m := t.Map(); m != nil {
		out = append(out, map[bool]string{true: "atomic", false: "granular"}[m.Atomic()])
	}
	if l := t.List(); l != nil {
		word := map[schema.Topology]string{schema.AtomicList: "atomic", schema.SetList: "set", schema.IncompleteList: "incomplete", schema.KeyedList: "by"}
		s := "list " + word[l.Topology()]
		if l.Topology() == schema.KeyedList {
			for _, k := range l.Keys() {
				s += " " + k.Name + "=" + k.Default.String()
			}
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestCompileKeyDefaults(t *testing.T) {
	for _, c := range []struct{ field, want string }{
		{`"default":0`, "0"}, {`"default":""`, `""`}, {`"default":false`, "false"}, {`"default":"x"`, `"x"`},
		{`"default":null`, "absent"}, {`"default":{"a":1}`, `{"a":1}`},
	} {
		s, err := schema.Compile(document(t, `{"name":"l","list":{"elementType":{"map":{"fields":[{"name":"k","type":{"scalar":"untyped"},`+
			c.field+`}]}},"elementRelationship":"associative","keys":["k"]}}`))
		if err != nil {
			t.Errorf("%s: %v", c.field, err)
			continue
		}
		l := s["l"]
		if got := l.List().Keys()[0].Default.String(); got != c.want {
			t.Errorf("%s: got default %s, want %s", c.field, got, c.want)
		}
	}
}

func TestCompileErr(t *testing.T) {
	s, err := schema.Compile(document(t, `{"name":"empty"},{"name":"str","scalar":"string"},
		{"name":"a","map":{"fields":[
			{"name":"dangling","type":{"namedType":"gone"}},
			{"name":"inlined","type":{}},
			{"name":"override","type":{"namedType":"str","elementRelationship":"atomic"}},
			{"name":"inlinedOverride","type":{"scalar":"string","elementRelationship":"atomic"}},
			{"name":"emptyOverride","type":{"namedType":"empty","elementRelationship":"atomic"}}]}}`))
	if err == nil {
		t.Fatal("compiled without problem")
	}
	a := s["a"]
	for field, want := range map[string]string{
		"dangling":        "schema error: no type found matching: gone",
		"inlined":         "schema error: invalid atom: inlined",
		"override":        "schema error: no type found matching: str",
		"inlinedOverride": "schema error: no type found matching: inlined type",
		"emptyOverride":   "schema error: no type found matching: empty",
	} {
		f, _ := a.Map().Lookup(field)
		if f.Err() == nil || f.Err().Error() != want {
			t.Errorf("field %s: got error %v, want %s", field, f.Err(), want)
		}
	}
	empty := s["empty"]
	if got, want := empty.Err().Error(), "schema error: invalid atom: named type: empty"; got != want {
		t.Errorf("type empty: got error %s, want %s", got, want)
	}
}

func TestCompileGraph(t *testing.T) {
	s, err := schema.Compile(document(t, `{"name":"tree","map":{"fields":[
		{"name":"value","type":{"scalar":"string"}},
		{"name":"children","type":{"list":{"elementType":{"namedType":"tree"},"elementRelationship":"atomic"}}}],
		"elementType":{"namedType":"tree","elementRelationship":"atomic"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	tree, ok := s["tree"]
	if !ok || tree.Name() != "tree" {
		t.Fatal("no type tree")
	}
	children, declared := tree.Map().Lookup("children")
	if !declared || children.List().Element() != tree {
		t.Error("the items of children are not the type tree itself")
	}
	other, declared := tree.Map().Lookup("other")
	if declared || !other.Map().Atomic() || other.Map().Element() != other || other.Name() != "tree" {
		t.Error("other members are not the one atomic tree")
	}
	if len(s) != 1 {
		t.Errorf("got %d types", len(s))
	}
	if _, ok := s["gone"]; ok {
		t.Error("found a type that is not defined")
	}
}

func TestDeduced(t *testing.T) {
	d := schema.Deduced
	if d.Name() != schema.DeducedName || d.Scalar() != schema.Untyped || topology(d) != "granular, list atomic" || !schemas.AdmitsAnything(d) {
		t.Errorf("deduced type is %s %s %s", d.Name(), d.Scalar(), topology(d))
	}
	if d.Map().Element() != d {
		t.Error("members are not deduced")
	}
	if items := d.List().Element(); items.Name() != schema.UntypedAtomicName || topology(items) != "atomic, list atomic" {
		t.Errorf("items are %s: %s", items.Name(), topology(items))
	}
}

// checkCompiled walks all of what d compiles to: whatever the problems are, every type that has no error has its parts.
func checkCompiled(t *testing.T, d *schema.Document) {
	t.Helper()
	s, _ := schema.Compile(d)
	seen := map[*schema.Type]bool{}
	var walk func(*schema.Type)
	walk = func(typ *schema.Type) {
		if typ == nil {
			t.Fatal("a type is missing")
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		if (typ.Err() != nil) != (typ.Scalar() == schema.None && typ.List() == nil && typ.Map() == nil) {
			t.Fatalf("type %q has parts and the error %v", typ.Name(), typ.Err())
		}
		if l := typ.List(); l != nil {
			walk(l.Element())
			for _, k := range l.Keys() {
				if k.Default.IsNull() {
					t.Fatalf("key %q has the default null", k.Name)
				}
			}
		}
		if m := typ.Map(); m != nil {
			for _, f := range m.Fields() {
				walk(f.Type)
			}
			if m.Element() != nil {
				walk(m.Element())
			}
		}
	}
	for _, def := range d.Types {
		typ, ok := s[def.Name]
		if !ok {
			t.Fatalf("type %q is lost", def.Name)
		}
		walk(typ)
	}
}

// document returns the document of types, which are in the text form, separated by commas.
func document(t *testing.T, types string) *schema.Document {
	t.Helper()
	d, err := schema.ParseDocument(parse(t, `{"types":[`+types+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNoSchema compiles and asks what is nil or zero: it has no types, and admits nothing.
func TestNoSchema(t *testing.T) {
	var none *schema.Document
	if types, err := schema.Compile(none); err != nil || types == nil || len(types) != 0 {
		t.Errorf("no document has the types %v (%v)", types, err)
	}
	if got := none.Value().String(); got != `{"types":[]}` {
		t.Errorf("no document is written as %s", got)
	}
	for _, typ := range []*schema.Type{nil, {}} {
		if typ.Err() == nil || typ.Name() != "" || typ.Scalar() != schema.None || typ.List() != nil || typ.Map() != nil {
			t.Errorf("%#v admits something", typ)
		}
	}
	var l *schema.List
	if l.Topology() != schema.AtomicList || l.Element() != nil || l.Keys() != nil {
		t.Error("no list has items")
	}
	var m *schema.Map
	if typ, declared := m.Lookup("a"); typ != nil || declared || m.Atomic() || m.Fields() != nil || m.Element() != nil {
		t.Error("no map has members")
	}
	if got := schema.Scalar(200).String(); got != "unknown" {
		t.Errorf("Scalar(200) is called %q", got)
	}
}
