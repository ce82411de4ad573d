package typed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Messages show wrong values as Kubernetes does, and in plain words as JSON has them.
func TestWordsForWrongKinds(t *testing.T) {
	const kinds = `{"types":[{"name":"root","map":{"fields":[
		{"name":"n","type":{"scalar":"numeric"}},{"name":"s","type":{"scalar":"string"}},{"name":"b","type":{"scalar":"boolean"}},
		{"name":"u","type":{"scalar":"untyped"}},{"name":"m","type":{"map":{"elementType":{"scalar":"string"}}}},
		{"name":"l","type":{"list":{"elementType":{"scalar":"string"},"elementRelationship":"atomic"}}}]}}]}`
	for text, want := range map[string][2]string{
		`{"n":"x"}`:                 {".n: expected numeric (int or float), got string", `.n: expected numeric (int or float), got string "x"`},
		`{"n":{}}`:                  {".n: expected numeric (int or float), got map[string]interface {}", ".n: expected numeric (int or float), got object"},
		`{"s":1.5}`:                 {".s: expected string, got &value.valueUnstructured{Value:1.5}", ".s: expected string, got float 1.5"},
		`{"s":{"a":["x"]}}`:         {`.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{"x"}}}`, ".s: expected string, got object"},
		`{"b":"yes"}`:               {".b: expected boolean, got &{yes}", `.b: expected boolean, got string "yes"`},
		`{"u":[null,1]}`:            {".u: expected any scalar, got &{[<nil> 1]}", ".u: expected any scalar, got list"},
		`{"m":1000000}`:             {".m: expected map, got &{1000000}", ".m: expected map, got int 1000000"},
		`{"l":{"b":1e21,"a":true}}`: {".l: expected list, got &{map[a:true b:1e+21]}", ".l: expected list, got object"},
		`{"x":1}`:                   {".x: field not declared in schema", ".x: field not declared in schema"},
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = typed.New(v, typeOf(t, kinds))
		var one *typed.Error
		if !errors.As(err, &one) || err.Error() != want[0] || paths.Decimal(one.Path)+": "+one.Plain != want[1] {
			t.Errorf("%s\ngot  %v\nwant %s\nin plain words %s", text, err, want[0], want[1])
		}
	}
}

// TestRedacted wants that Redacted says what is wrong without anything of the values that are.
func TestRedacted(t *testing.T) {
	const kinds = `{"types":[{"name":"root","map":{"fields":[
		{"name":"n","type":{"scalar":"numeric"}},{"name":"s","type":{"scalar":"string"}},{"name":"b","type":{"scalar":"boolean"}},
		{"name":"m","type":{"map":{"elementType":{"scalar":"string"}}}},
		{"name":"set","type":{"list":{"elementType":{"scalar":"string"},"elementRelationship":"associative"}}},
		{"name":"keyed","type":{"list":{"elementType":{"map":{"fields":[{"name":"k","type":{"scalar":"string"}}]}},
			"elementRelationship":"associative","keys":["k"]}}}]}}]}`
	for text, want := range map[string]string{
		`{"n":"hunter2"}`:                             "expected numeric (int or float), got string",
		`{"s":4711}`:                                  "expected string, got int",
		`{"s":{"hunter2":["hunter2"]}}`:               "expected string, got object",
		`{"b":"hunter2"}`:                             "expected boolean, got string",
		`{"m":4711}`:                                  "expected map, got int",
		`{"set":["hunter2","hunter2"]}`:               "duplicate entries for a key",
		`{"keyed":[{"k":"hunter2"},{"k":"hunter2"}]}`: "duplicate entries for a key",
		`{"keyed":["hunter2"]}`:                       "element 0: associative list with keys may not have non-map elements",
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		typ := typeOf(t, kinds)
		var one *typed.Error
		if _, err = typed.New(v, typ); !errors.As(err, &one) || one.Redacted != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}

// TestManyErrors is about thousands of values that are wrong deep in an object: only some are told apart, in order.
func TestManyErrors(t *testing.T) {
	const depth, leaves = 500, 5000
	deep := `{"types":[{"name":"root","scalar":"string","map":{"elementType":{"namedType":"root"}}}]}`
	var members strings.Builder
	for i := range leaves {
		fmt.Fprintf(&members, `"m%d":1,`, i)
	}
	text := strings.Repeat(`{"a":`, depth) + "{" + strings.TrimSuffix(members.String(), ",") + "}" + strings.Repeat("}", depth)
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = typed.New(v, typeOf(t, deep))
	var all typed.Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	last := all[len(all)-1]
	if n := len(all); n < 100 || n > 1000 || last.Detail != fmt.Sprintf("and %d more", leaves-n+1) || last.Redacted != last.Detail {
		t.Errorf("%d errors are told apart, the last of them %v", n, last)
	}
	if text := err.Error(); len(text) > 2<<20 || !strings.HasPrefix(text, "errors:\n  .a.a.a") || !strings.HasSuffix(text, last.Detail) {
		t.Errorf("the message has %d bytes", len(text))
	}
}
