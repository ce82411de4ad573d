package typed_test

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// typeOf compiles a schema that is written as YAML's subset JSON, and returns its type called root.
func typeOf(t testing.TB, document string) *schema.Type {
	t.Helper()
	v, err := value.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	d, err := schema.ParseDocument(v)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	root, ok := s["root"]
	if !ok {
		t.Fatal("the schema has no type called root")
	}
	return root
}

// valueOf returns a JSON document as a value of type root.
func valueOf(t testing.TB, root *schema.Type, document string) typed.Value {
	t.Helper()
	v, err := value.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	out, err := typed.New(v, root, typed.AllowDuplicates)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// setOf parses paths as [fieldpath.ParsePath] reads them.
func setOf(t testing.TB, paths ...string) fieldpath.Set {
	t.Helper()
	var b fieldpath.Builder
	for _, text := range paths {
		p, err := fieldpath.ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		b.Add(p)
	}
	return b.Set()
}

// An item that has lost all its keys has no identity, and yet its list has something in it.
func TestFieldsOfItemsWithoutIdentity(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{
		"elementRelationship":"associative","keys":["k"],
		"elementType":{"map":{"fields":[{"name":"k","type":{"scalar":"string"}}]}}}}}]}}]}`)
	v := valueOf(t, root, `{"l":[{"k":"a"},{"k":"b"}]}`)
	left := v.Remove(setOf(t, `.l[k="a"].k`, `.l[k="b"].k`))
	if got := left.Content().String(); got != `{"l":[null,null]}` {
		t.Fatalf("Remove left %s", got)
	}
	fields := left.Fields()
	list, member := below(fields, "l"), fieldpath.Element{}
	if fields.Len() != 1 || !list.Has(fieldpath.Path{member}) {
		t.Errorf("the fields are %q, want the zero element below l only", fields.String())
	}
	if !typing.WithNamedFields(fields, root).Has(fieldpath.Path{fieldpath.Field("l")}) {
		t.Error("the list does not count as one that has something in it")
	}
}

// Merge rejects a live value in which items have lost their keys, even where config has nothing.
func TestMergeOfItemsWithoutIdentity(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[{"name":"n","type":{"scalar":"numeric"}},{"name":"l","type":{"list":{
		"elementRelationship":"associative","keys":["k"],
		"elementType":{"map":{"fields":[{"name":"k","type":{"scalar":"string"}}]}}}}}]}}]}`)
	broken := valueOf(t, root, `{"l":[{"k":"a"}]}`).Remove(setOf(t, `.l[k="a"].k`))
	_, err := typed.Merge(broken, valueOf(t, root, `{"n":1}`))
	var errs typed.Errors
	if !errors.As(err, &errs) || len(errs) != 1 || errs[0].Reason != typed.Unidentified || errs[0].Path.String() != ".l" {
		t.Errorf("merge gives the error %v, want one about .l", err)
	}
}

// Every declared field that has something owned below it counts as named, however deep; items do
// not.
func TestNamedFieldsAtEveryDepth(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[{"name":"a","type":{"namedType":"mid"}}]}},
		{"name":"mid","map":{"fields":[{"name":"b","type":{"namedType":"root"}},{"name":"c","type":{"list":{
			"elementRelationship":"associative","keys":["k"],"elementType":{"namedType":"mid"}}}}],
			"elementType":{"namedType":"root"}}}]}`)
	for _, c := range []struct{ set, want []string }{
		{[]string{`.a.b.a.b`}, []string{`.a`, `.a.b`, `.a.b.a`, `.a.b.a.b`}},
		{[]string{`.a.c[k="x"].b.a`}, []string{`.a`, `.a.c`, `.a.c[k="x"].b`, `.a.c[k="x"].b.a`}},
		{[]string{`.a.other.a.b`}, []string{`.a`, `.a.other.a`, `.a.other.a.b`}},
		{[]string{`.unknown.a.b`}, []string{`.unknown.a.b`}},
	} {
		if got := typing.WithNamedFields(setOf(t, c.set...), root); !got.Equal(setOf(t, c.want...)) {
			t.Errorf("%q with named fields is\n%v\nwant\n%v", c.set, got, setOf(t, c.want...))
		}
	}
}

// Only what a configuration has empty where an object has something, and is no list, fills it.
func TestFilledEmpty(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[
		{"name":"m","type":{"map":{"elementType":{"scalar":"string"}}}},
		{"name":"l","type":{"list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}}]}}]}`)
	live := valueOf(t, root, `{"m":{"a":"b"},"l":["c"]}`)
	for config, want := range map[string]bool{
		`{"m":{}}`: true, `{"m":null}`: true, `{"l":null}`: true, `{"l":[]}`: false, `{"m":{"a":"d"}}`: false, `{}`: true, `{"l":[],"m":{}}`: true,
	} {
		merged, err := typed.Merge(live, valueOf(t, root, config))
		if err != nil {
			t.Fatal(err)
		}
		if got := typing.FilledEmpty(merged); got != want {
			t.Errorf("an object that %s is merged into was filled: %t", config, got)
		}
	}
}

// below returns what s has below the field called name.
func below(s fieldpath.Set, name string) fieldpath.Set {
	_, sub := s.Get(fieldpath.Field(name))
	return sub
}
