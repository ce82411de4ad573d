package yaml_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/yaml"
)

// TestRoundTrip reads a schema that uses every part of the grammar, as YAML and as the JSON text of what was read.
func TestRoundTrip(t *testing.T) {
	first, err := yaml.Parse([]byte(`# of a test
types:
- name: all
  scalar: untyped
  list: &list
    elementType: {namedType: all, elementRelationship: atomic, nullable: true}
    elementRelationship: associative
    keys: [name, "on"]
  map:
    elementRelationship: separable
    elementType: {scalar: boolean}
    fields:
    - {name: name, type: {scalar: string}, default: web}
    - {name: "on", type: {scalar: numeric}, default: 0x10}
    - {name: lists, type: {list: *list}}
- {name: "", map: {}}
`))
	if err != nil {
		t.Fatal(err)
	}
	all := first.Types[0]
	if len(first.Types) != 2 || all.Name != "all" || all.Scalar != schema.Untyped || all.Map.Fields[1].Default.Int() != 16 ||
		!reflect.DeepEqual(all.List.Keys, []string{"name", "on"}) || !reflect.DeepEqual(all.Map.Fields[2].Type.Inlined.List, all.List) {
		t.Errorf("got %v", first.Value())
	}
	again, err := yaml.Parse(first.Value().AppendJSON(nil))
	if err != nil || !again.Value().Equal(first.Value()) {
		t.Errorf("got %v (%v), want %v", again, err, first.Value())
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "expected one document, the schema, but there are 0"},
		{"# nothing\n", "expected one document, the schema, but there are 0"},
		{"types: []\n---\ntypes: []\n", "expected one document, the schema, but there are 2"},
		{"types:\n- name: a\n  map: {fields: [}\n", "schema:3:18: "},
		{"types:\n- name: a\n  name: b\n", "schema:3:3: "},
		{"types:\n- map: {}\n- name: b\n  lists: {}\n", ".types[0]: has no name\n.types[name=\"b\"].lists: unknown member"},
	} {
		d, err := yaml.Parse([]byte(test.text))
		if d != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q is %v (%v), want an error with %q", test.text, d, err, test.want)
		}
	}
	var defect *schema.Error
	if _, err := yaml.Parse([]byte("kinds: []")); !errors.As(err, &defect) || defect.Path != ".kinds" {
		t.Errorf("got %v, want a *schema.Error at .kinds", err)
	}
}
