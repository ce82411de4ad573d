package extras

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	reference "sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

type (
	// Inner and Other are embedded, and so is Text.
	Inner struct {
		A int `json:"a"`
	}
	Other struct {
		A int `json:"a"`
	}
	Text string
)

// unlikeJSON has structs that the reference, which uses reflection, reads differently from their JSON. The JSON is what a client sends,
// what is stored, and what an unstructured object of the kind holds.
var unlikeJSON = []struct {
	what      string
	object    any
	reference string
}{
	{"a nil embedded pointer", &struct {
		*Inner
		B int `json:"b"`
	}{B: 1}, `{"a":0,"b":1}`},
	{"the tag option string", &struct {
		A int `json:"a,string"`
	}{1}, `{"a":1}`},
	{"a float32", &struct {
		A float32 `json:"a"`
	}{0.1}, `{"a":0.10000000149011612}`},
	{"integers as keys of a map", &struct {
		A map[int]string `json:"a"`
	}{map[int]string{1: "x", 2: "y"}}, "one member"},
	{"an embedded string", &struct {
		Text
		B int `json:"b"`
	}{"x", 1}, `{"b":1}`},
	{"a field that shadows one behind it", &struct {
		A string `json:"a"`
		Inner
	}{"x", Inner{1}}, `{"a":1}`},
	{"fields that shadow each other", twice(), `{"a":2}`},
	{"an array", &struct {
		A [2]int `json:"a"`
	}{[2]int{1, 2}}, "panic"},
}

// twice returns a struct of type struct { Inner; Other }, which go vet refuses in source.
func twice() any {
	both := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "Inner", Type: reflect.TypeFor[Inner](), Anonymous: true},
		{Name: "Other", Type: reflect.TypeFor[Other](), Anonymous: true},
	}))
	both.Elem().Field(0).Set(reflect.ValueOf(Inner{1}))
	both.Elem().Field(1).Set(reflect.ValueOf(Other{2}))
	return both.Interface()
}

// reflected returns the reference's view of object.
func reflected(t *testing.T, object any) (text string) {
	t.Helper()
	defer func() {
		if recover() != nil {
			text = "panic"
		}
	}()
	v, err := reference.NewValueReflect(object)
	if err != nil {
		t.Fatal(err)
	}
	b, err := reference.ToJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "int Value") { // the reference gives all keys of a map this name
		return "one member"
	}
	return string(b)
}

// TestStructsUnlikeJSON checks that deed reads a struct like its JSON, and shows where the reference does not.
func TestStructsUnlikeJSON(t *testing.T) {
	for _, c := range unlikeJSON {
		printed, err := json.Marshal(c.object)
		if err != nil {
			t.Fatal(err)
		}
		want, err := value.Parse(printed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := structs.From(c.object)
		if err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v (error %v), want %v", c.what, got, err, want)
		}
		text := reflected(t, c.object)
		if text != c.reference {
			t.Errorf("%s: the reference has %s, and had %s", c.what, text, c.reference)
		}
		if text == string(printed) {
			t.Errorf("%s: the reference has %s, as JSON has", c.what, text)
		}
	}
}

// TestNoKindIsUnlikeJSON checks that no kind of Kubernetes has such a struct.
func TestNoKindIsUnlikeJSON(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, typ := range scheme.Scheme.AllKnownTypes() {
		likeJSON(t, typ, typ.String(), seen)
	}
	if len(seen) < 1000 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func likeJSON(t *testing.T, typ reflect.Type, path string, seen map[reflect.Type]bool) {
	t.Helper()
	if seen[typ] || reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	seen[typ] = true
	switch typ.Kind() {
	case reflect.Array, reflect.Float32:
		t.Errorf("%s is of type %v", path, typ)
	case reflect.Map:
		if typ.Key().Kind() != reflect.String {
			t.Errorf("%s has keys of type %v", path, typ.Key())
		}
		likeJSON(t, typ.Elem(), path, seen)
	case reflect.Slice, reflect.Pointer:
		likeJSON(t, typ.Elem(), path, seen)
	case reflect.Struct:
		names := map[string]bool{}
		for _, f := range reflect.VisibleFields(typ) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			at := fmt.Sprintf("%s.%s", path, f.Name)
			switch {
			case name == "-" || !f.IsExported():
				continue
			case f.Anonymous && name == "" && f.Type.Kind() != reflect.Struct:
				t.Errorf("%s is embedded, and no struct", at)
			case name != "" && names[name]:
				t.Errorf("%s shadows another field", at)
			case strings.Contains(options, "string"):
				t.Errorf("%s has the option string", at)
			}
			names[name] = true
			likeJSON(t, f.Type, at, seen)
		}
	}
}
