package typed_test

import (
	"testing"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

const lists = `{"types":[{"name":"root","map":{"fields":[
	{"name":"set","type":{"list":{"elementType":{"scalar":"string"},"elementRelationship":"associative"}}},
	{"name":"keyed","type":{"list":{"elementType":{"map":{"fields":[
		{"name":"k","type":{"scalar":"string"}},{"name":"n","type":{"scalar":"numeric"}}]}},
		"elementRelationship":"associative","keys":["k"]}}}]}}]}`

// An item that cannot be identified hides what is behind it, but not what is before it.
func TestProblemsBeforeAnUnidentifiedItemAreReported(t *testing.T) {
	root := typeOf(t, lists)
	for text, want := range map[string]string{
		`{"set":["a","a",null,"b","b"]}`: "errors:\n" +
			"  .set: duplicate entries for key [=\"a\"]\n" +
			"  .set: element 2: associative list without keys has an element that's an explicit null",
		`{"keyed":[{"k":"a","n":"x"},1,{"k":"b","n":"x"}]}`: "errors:\n" +
			"  .keyed[k=\"a\"].n: expected numeric (int or float), got string\n" +
			"  .keyed: element 1: associative list with keys may not have non-map elements",
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typed.New(v, root); err == nil || err.Error() != want {
			t.Errorf("%s gave\n%v\nwant\n%s", text, err, want)
		}
	}
}

// A path leads to an item of an atomic list by its number, and of any other by its identity.
func TestPathsOfProblems(t *testing.T) {
	root := typeOf(t, `{"types":[{"name":"root","map":{"fields":[
		{"name":"atomic","type":{"list":{"elementRelationship":"atomic","elementType":{"namedType":"item"}}}},
		{"name":"keyed","type":{"list":{"elementRelationship":"associative","keys":["k"],"elementType":{"namedType":"item"}}}},
		{"name":"set","type":{"list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}}]}},
		{"name":"item","map":{"fields":[{"name":"k","type":{"scalar":"string"}},{"name":"n","type":{"scalar":"numeric"}}]}}]}`)
	for text, want := range map[string]string{
		`{"atomic":[{"k":"a"},{"k":"b","n":"x"}]}`: `.atomic[1].n: expected numeric (int or float), got string`,
		`{"keyed":[{"k":"a"},{"k":"b","n":"x"}]}`:  `.keyed[k="b"].n: expected numeric (int or float), got string`,
		`{"set":["a",1]}`:                          `.set[=1]: expected string, got &value.valueUnstructured{Value:1}`,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := typed.New(v, root); err == nil || err.Error() != want {
			t.Errorf("%s gave\n%v\nwant\n%s", text, err, want)
		}
	}
}
