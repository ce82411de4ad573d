package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	smd "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// documents are texts of schemas that ParseDocument accepts.
var documents = []string{
	`null`,
	`{}`,
	`{"types":null}`,
	`{"types":[]}`,
	`{"types":[{"name":"a"},{"name":"b","scalar":null,"list":null,"map":null}]}`,
	`{"types":[{"name":"a","scalar":"numeric"},{"name":"b","scalar":"untyped"}]}`,
	`{"types":[{"name":"a","scalar":"string","list":{"elementType":{"scalar":"boolean"}},"map":{"elementType":{"namedType":"a"}}}]}`,
	`{"types":[{"name":"a","list":{"elementType":{"namedType":"b"},"elementRelationship":"associative","keys":["x","y"]}}]}`,
	`{"types":[{"name":"a","map":{"fields":[{"name":"x","type":{"scalar":"string"},"default":"d"},{"name":"y"},{"name":"z","default":{"q":[1]}}]}}]}`,
	`{"types":[{"name":"a","map":{"fields":[{"name":"x","type":{"namedType":"b","elementRelationship":"atomic"}}]}}]}`,
	`{"types":[{"name":"a","map":{"elementType":{"elementRelationship":"atomic","list":{"elementType":{},"elementRelationship":"separable"}}}}]}`,
	`{"types":[{"name":"a","scalar":"number","map":{"elementRelationship":"granular"}}]}`,
	`{"types":[{"name":"a","untyped":{"elementRelationship":"atomic"},"map":{"elementType":{"untyped":{}}}}]}`,
	`{"types":[{"name":"a","map":{"unions":[{"discriminator":"d","deduceInvalidDiscriminator":true,"fields":[{"fieldName":"f","discriminatorValue":"F"}]},null]}}]}`,
	`{"types":[{"name":null,"scalar":"string"}]}`,
	`{"types":[{"name":"","scalar":"string"}]}`,
	`{"types":[{"name":"a","map":{"fields":[{"name":null,"type":{"scalar":"string"}}]}}]}`,
	`{"types":[{"name":"a","list":{"keys":[null]}}]}`,
	`{"types":[{"name":"a","scalar":""}]}`,
}

// problems are texts that ParseDocument rejects, with all that it reports.
var problems = []struct {
	text string
	want []string
}{
	{`"a"`, []string{`expected object, got string`}},
	{`[]`, []string{`expected object, got list`}},
	{`{"types":{}}`, []string{`.types: expected list, got object`}},
	{`{"type":[]}`, []string{`.type: unknown member`}},
	{`{"types":["a",null,{"name":"a"}]}`, []string{`.types[0]: expected object, got string`, `.types[1]: expected object, got null`}},
	{`{"types":[{"scalar":"string"}]}`, []string{`.types[0]: has no name`}},
	{`{"types":[{"name":"a"},{"name":"a","foo":1}]}`, []string{
		`.types[name="a"]: is defined twice`, `.types[name="a"].foo: unknown member`}},
	{`{"types":[{"name":1},{"name":2}]}`, []string{
		`.types[name=1].name: expected string, got int`, `.types[name=2].name: expected string, got int`}},
	{`{"types":[{"name":"a","scalar":1,"list":[],"map":"m","untyped":true}]}`, []string{
		`.types[name="a"].list: expected object, got list`,
		`.types[name="a"].map: expected object, got string`,
		`.types[name="a"].scalar: expected string, got int`,
		`.types[name="a"].untyped: expected object, got bool`}},
	{`{"types":[{"name":"a","list":{"elementType":"b","keys":"k","elementRelationship":false,"x":1}}]}`, []string{
		`.types[name="a"].list.elementRelationship: expected string, got bool`,
		`.types[name="a"].list.elementType: expected object, got string`,
		`.types[name="a"].list.keys: expected list, got string`,
		`.types[name="a"].list.x: unknown member`}},
	{`{"types":[{"name":"a","list":{"keys":[1,"k"]}}]}`, []string{`.types[name="a"].list.keys[0]: expected string, got int`}},
	{`{"types":[{"name":"a","map":{"fields":[{"name":"x"},{"name":"x"},{"type":{}}]}}]}`, []string{
		`.types[name="a"].map.fields[name="x"]: is defined twice`, `.types[name="a"].map.fields[2]: has no name`}},
	{`{"types":[{"name":"a","map":{"fields":[{"name":"x","type":{"namedType":1,"bar":2}}]}}]}`, []string{
		`.types[name="a"].map.fields[name="x"].type.bar: unknown member`,
		`.types[name="a"].map.fields[name="x"].type.namedType: expected string, got int`}},
	{`{"types":[{"name":"a","map":{"unions":[{"discriminator":1,"fields":[{"fieldName":"f"},{"fieldName":"f"},{}]}]}}]}`, []string{
		`.types[name="a"].map.unions[0].discriminator: expected string, got int`,
		`.types[name="a"].map.unions[0].fields[fieldName="f"]: is defined twice`,
		`.types[name="a"].map.unions[0].fields[2]: has no fieldName`}},
	{`{"types":[{"name":"a","map":{"unions":{},"fields":{}}}]}`, []string{
		`.types[name="a"].map.fields: expected list, got object`, `.types[name="a"].map.unions: expected list, got object`}},
	{`{"types":[{"name":"a","untyped":{"scalar":"x"}}]}`, []string{`.types[name="a"].untyped.scalar: unknown member`}},
}

func TestParseDocument(t *testing.T) {
	for _, text := range documents {
		d, err := schema.ParseDocument(parse(t, text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		checkRoundTrip(t, d)
	}
}

func TestParseDocumentProblems(t *testing.T) {
	for _, c := range problems {
		_, err := schema.ParseDocument(parse(t, c.text))
		if got := messages(err); !slices.Equal(got, c.want) {
			t.Errorf("%s: got problems\n%s\nwant\n%s", c.text, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	var e *schema.Error
	if _, err := schema.ParseDocument(value.List()); !errors.As(err, &e) || e.Path != "" {
		t.Errorf("a list: got error %v, want an *Error at the root", err)
	}
}

// The nullable that structured-merge-diff v4 does not know yet is tested here alone.
func TestParseNullable(t *testing.T) {
	d, err := schema.ParseDocument(parse(t, `{"types":[{"name":"a","map":{"elementType":{"scalar":"string","nullable":true}}}]}`))
	if err != nil || !d.Types[0].Map.ElementType.Nullable {
		t.Errorf("got %+v, %v, want a nullable element type", d, err)
	}
	checkRoundTrip(t, d)
	_, err = schema.ParseDocument(parse(t, `{"types":[{"name":"a","map":{"elementType":{"nullable":"yes"}}}]}`))
	if want := []string{`.types[name="a"].map.elementType.nullable: expected bool, got string`}; !slices.Equal(messages(err), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// An override by the empty word makes what the type declares atomic granular, as any other unknown word does.
func TestParseEmptyOverride(t *testing.T) {
	d, err := schema.ParseDocument(parse(t, `{"types":[{"name":"a","map":{"elementType":{"scalar":"string"},"elementRelationship":"atomic"}},
		{"name":"b","map":{"elementType":{"namedType":"a","elementRelationship":""}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	if b := s["b"]; b.Map().Element().Map().Atomic() {
		t.Error("the overridden map is still atomic")
	}
}

// structured-merge-diff accepts and rejects the same documents.
func TestParseDocumentLikeSMD(t *testing.T) {
	for _, text := range documents {
		if _, err := smd.NewParser(smd.YAMLObject(text)); err != nil {
			t.Errorf("SMD rejects %s: %v", text, err)
		}
	}
	for _, c := range problems {
		if _, err := smd.NewParser(smd.YAMLObject(c.text)); err == nil {
			t.Errorf("SMD accepts %s", c.text)
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, text := range documents {
		f.Add([]byte(text))
	}
	for _, c := range problems {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := value.Parse(text)
		if err != nil {
			return
		}
		d, err := schema.ParseDocument(v)
		if (err == nil) != (d != nil) {
			t.Fatalf("got document %v with error %v", d, err)
		}
		if err == nil {
			checkRoundTrip(t, d)
			checkCompiled(t, d)
		}
	})
}

// checkRoundTrip reports whether the text form of d gives d again.
func checkRoundTrip(t *testing.T, d *schema.Document) {
	t.Helper()
	again, err := schema.ParseDocument(d.Value())
	if err != nil {
		t.Fatalf("%s: %v", d.Value(), err)
	}
	if diff := cmp.Diff(d, again, cmpopts.EquateEmpty(), cmp.Comparer(value.Value.Equal)); diff != "" {
		t.Errorf("%s is read back differently (-want +got):\n%s", d.Value(), diff)
	}
}

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// messages returns the texts of the errors that err joins.
func messages(err error) []string {
	var out []string
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			out = append(out, e.Error())
		}
	}
	return out
}
