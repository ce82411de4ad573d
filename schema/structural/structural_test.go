package structural_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "record the answers in testdata anew")

// TestScripts answers the questions of testdata: after a schema come objects, and after each object
// what the steps make of it.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { script(t, name) })
	}
}

func script(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var s *structural.Schema
	var object value.Value
	for i, file := range archive.Files {
		var got string
		switch file.Name {
		case "schema":
			if s, err = structural.Compile(parse(t, file.Data)); err != nil {
				t.Fatal(err)
			}
			continue
		case "object":
			object = parse(t, file.Data)
			continue
		default:
			got = answer(t, s, object, file.Name)
		}
		if *update {
			archive.Files[i].Data = []byte(got)
		} else if got != string(file.Data) {
			t.Errorf("%v\n%s is\n%s\nwant\n%s", object, file.Name, got, file.Data)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func answer(t *testing.T, s *structural.Schema, object value.Value, question string) string {
	var b bytes.Buffer
	decoded, unknown, err := s.Decode(object)
	switch question {
	case "loaded":
		decoded, err = s.Load(object)
		unknown = nil
	case "defaulted":
		decoded, unknown = s.Default(decoded), nil
	case "metadata":
		decoded, unknown, err = structural.Metadata(object.Get("metadata"))
	case "duplicates":
		for _, err := range s.Duplicates(object) {
			fmt.Fprintln(&b, err)
		}
		return b.String()
	case "decoded":
	default:
		t.Fatalf("nobody knows what %s is", question)
	}
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	fmt.Fprintln(&b, decoded)
	for _, path := range unknown {
		fmt.Fprintln(&b, "unknown:", path)
	}
	return b.String()
}

func parse(t testing.TB, text []byte) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// A version without a schema knows the fields of all objects.
func TestNoSchema(t *testing.T) {
	for _, schema := range []value.Value{{}, value.Null()} {
		s, err := structural.Compile(schema)
		if err != nil || s != nil {
			t.Fatal(s, err)
		}
		object := parse(t, []byte(`{"apiVersion":"a/v1","kind":"K","metadata":{"name":"n"},"spec":[1]}`))
		decoded, unknown, err := s.Decode(object)
		if want := object.With("spec", value.Value{}); err != nil || !decoded.Equal(want) || fmt.Sprint(unknown) != "[spec]" {
			t.Errorf("decoded %v, %q, %v, want %v", decoded, unknown, err, want)
		}
		if !s.Default(decoded).Same(decoded) || s.Duplicates(object) != nil {
			t.Error("no schema defaults or finds duplicates")
		}
	}
}

func TestSchemaError(t *testing.T) {
	crd := parse(t, []byte(`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","default":1}}}]}}`))
	_, err := structural.Versions(crd)
	const want = "spec.versions[v1].schema.openAPIV3Schema: the default of an object must be an object and is of kind int"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// deployment returns a schema, and an object with n items that conforms to it and says all that
// defaults would.
func deployment(t testing.TB, n int) (*structural.Schema, value.Value) {
	s, err := structural.Compile(parse(t, []byte(`{"type": "object", "properties": {"spec": {"type": "object", "properties": {
		"items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
			"properties": {"name": {"type": "string"}, "port": {"type": "integer", "default": 80},
				"template": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
	}}}}}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	var items []value.Value
	for i := range n {
		items = append(items, parse(t, fmt.Appendf(nil, `{"name": "n%d", "port": 1, "template": {"apiVersion": "v1", "kind": "Pod",
			"metadata": {"name": "x", "labels": {"a": "b"}, "creationTimestamp": "2026-01-02T03:04:05Z"}, "spec": {"a": [1, 2]}}}`, i)))
	}
	object := parse(t, []byte(`{"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "n", "generation": 1}}`))
	return s, object.With("spec", value.Object(value.Member{Name: "items", Value: value.List(items...)}))
}

// Objects in which there is nothing to do are given back. What is allocated is where the walks are,
// whatever their size.
func TestNothingToDo(t *testing.T) {
	s, object := deployment(t, 20)
	allocations := testing.AllocsPerRun(100, func() {
		decoded, unknown, err := s.Decode(object)
		loaded, loadErr := s.Load(decoded)
		if out := s.Default(loaded); !out.Same(object) || unknown != nil || err != nil || loadErr != nil {
			t.Fatal(out, unknown, err, loadErr)
		}
	})
	if allocations > 6 {
		t.Errorf("%v allocations", allocations)
	}
}

// What is changed costs in proportion to the object, and what is not is shared.
func TestChangesAreLinear(t *testing.T) {
	cost := func(n int) float64 {
		s, object := deployment(t, n)
		spec := object.Get("spec")
		spec = spec.With("unknown", value.Int(1))
		var items []value.Value
		for item := range spec.Get("items").Items() {
			items = append(items, item.With("unknown", value.Int(1)).With("port", value.Value{}))
		}
		object = object.With("spec", spec.With("items", value.List(items...)))
		return testing.AllocsPerRun(5, func() {
			decoded, unknown, err := s.Decode(object)
			if err != nil || len(unknown) != n+1 {
				t.Fatal(unknown, err)
			}
			s.Default(decoded)
		})
	}
	few, many := cost(100), cost(400)
	if many > 4.4*few {
		t.Errorf("%v allocations for 100 items, %v for 400", few, many)
	}
}
