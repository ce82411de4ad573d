package selector

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

const object = `{
	"metadata": {"annotations": {"example.org/team": "a", "x.y": "b", "x": {"y": "c"}},
		"labels": {"a.b": {"c": 1}, "a": {"b.c": 2}}},
	"spec": {"replicas": 3, "containers": [{"name": "web", "image": "a:1"}, {"name": "side", "image": "b:1"}], "finalizers": ["a", "b"]},
	"twice": [{"name": "a", "v": 1}, {"name": "a", "v": 2}]
}`

func TestIn(t *testing.T) {
	v, err := value.Parse([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ selector, want string }{
		{".spec.replicas", ".spec.replicas"},
		{"replicas", ".spec.replicas"},
		{".replicas", ""},
		{".spec.replica", ""},
		{".metadata.annotations.example.org/team", `.metadata.annotations."example.org/team"`},
		{`.metadata.annotations["example.org/team"]`, `.metadata.annotations."example.org/team"`},
		{`.metadata.annotations."example.org/team"`, `.metadata.annotations."example.org/team"`},
		{`.metadata.annotations["example"]`, ""},
		{".metadata.annotations.x.y", `.metadata.annotations.x.y`}, // step by step
		{`.metadata.annotations["x.y"]`, `.metadata.annotations."x.y"`},
		{".metadata.labels.a.b.c", `ambiguous: .metadata.labels.a."b.c" .metadata.labels."a.b".c`},
		{`.metadata.annotations["x"].y`, `.metadata.annotations.x.y`},
		{"containers[*].image", ".spec.containers[0].image .spec.containers[1].image"},
		{".spec.containers[*].image", ".spec.containers[0].image .spec.containers[1].image"},
		{`.spec.containers[name="side"].image`, `.spec.containers[name="side"].image`},
		{`.spec.containers[1].image`, `.spec.containers[1].image`},
		{`.spec.finalizers[="b"]`, `.spec.finalizers[="b"]`},
		{`.twice[name="a"].v`, `.twice[name="a"].v`}, // a path of two fields is one path
		{".spec.*", ".spec.containers .spec.finalizers .spec.replicas"},
		{".spec[*]", ""},
	} {
		s, err := Parse(c.selector)
		if err != nil {
			t.Errorf("%s: %v", c.selector, err)
			continue
		}
		paths, err := s.In(v)
		var texts []string
		var ambiguous *AmbiguousError
		if errors.As(err, &ambiguous) {
			texts, paths = []string{"ambiguous:"}, ambiguous.Readings
		}
		for _, p := range paths {
			texts = append(texts, p.Text())
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%s selects %s, want %s", c.selector, got, c.want)
		}
	}
}

func TestAmong(t *testing.T) {
	web := fieldpath.Key(fieldpath.KeyField{Name: "name", Value: value.String("web")}, fieldpath.KeyField{Name: "p", Value: value.Int(1)})
	image := fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("containers"), web, fieldpath.Field("image")}
	team := fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field("example.org/team")}
	for _, c := range []struct {
		selector string
		path     fieldpath.Path
		length   int // the length of the selected path; -1 if nothing is selected
	}{
		{".spec.containers", image, 2},
		{".spec.containers[*].image", image, 4},
		{".spec.containers.*", image, -1},
		{`.spec.containers[name="web"]`, image, 3},
		{`.spec.containers[name="we"]`, image, -1},
		{"containers[*].image", image, 4},
		{"image", image, 4},
		{".image", image, -1},
		{".spec.containers[*].images", image, -1},
		{".metadata.annotations.example.org/team", team, 3},
		{".metadata.annotations.example", team, -1},
		{".metadata.*.*", team, 3},
		{".metadata.annotations.*.org/team", team, -1},
		{`["metadata"].annotations`, team, 2},
	} {
		s, err := Parse(c.selector)
		if err != nil {
			t.Errorf("%s: %v", c.selector, err)
			continue
		}
		selected, err := s.Among([]fieldpath.Path{c.path})
		if err != nil || (selected[0] != nil) != (c.length >= 0) || c.length >= 0 && len(selected[0]) != c.length {
			t.Errorf("%s of %v: %v, %v, want %d elements", c.selector, c.path, selected, err, c.length)
		}
	}
}

// TestReadings checks that a path that leads to a field step by step has no other reading. Several other readings are an error that lists
// them.
func TestReadings(t *testing.T) {
	field := fieldpath.Field
	steps, joined := fieldpath.Path{field("a"), field("b"), field("c")}, fieldpath.Path{field("a.b"), field("c")}
	other := fieldpath.Path{field("a"), field("b.c")}
	s, err := Parse(".a.b.c")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Among([]fieldpath.Path{joined, steps}); err != nil || got[0] != nil || !slices.Equal(got[1], steps) {
		t.Errorf("with a field step by step: %v, %v", got, err)
	}
	if got, err := s.Among([]fieldpath.Path{joined}); err != nil || !slices.Equal(got[0], joined) {
		t.Errorf("without: %v, %v", got, err)
	}
	_, err = s.Among([]fieldpath.Path{joined, other})
	if want := `.a.b.c may be ."a.b".c or .a."b.c"`; err == nil || secret.Open.Error(err) != want {
		t.Errorf("the error is %v, want %s", secret.Open.Error(err), want)
	}
	if want := `.a.b.c may be ."***"."***" or ."***"."***"`; err.Error() != want {
		t.Errorf("to a reader who may see nothing, the error is %v, want %s", err, want)
	}
}

// TestPrintedPaths checks that every printed path can be parsed, and then selects exactly that path: among all paths, in its value, and
// read as a path.
func TestPrintedPaths(t *testing.T) {
	r := seeds.Rand(t)
	names := []string{"a", "b", "a.b", "", "*", ".", "x y", `q"\`, "[", "]", "{", "a/b", "é", "\n\x01", "\xff", "=", "0", "[0]", "name=1"}
	scalars := []value.Value{value.String("a"), value.String(`]"[`), value.Int(1), value.Int(1000000), value.Float(0.5), value.Bool(true), value.Null(),
		value.List(value.Int(1), value.List()), value.Object(value.Member{Name: "]", Value: value.String("}")})}
	name := func() string { return names[r.IntN(len(names))] }
	scalar := func() value.Value { return scalars[r.IntN(len(scalars))] }
	element := func() fieldpath.Element {
		switch r.IntN(6) {
		case 0:
			var fields []fieldpath.KeyField
			for range 1 + r.IntN(2) {
				fields = append(fields, fieldpath.KeyField{Name: name(), Value: scalar()})
			}
			return fieldpath.Key(fields...)
		case 1:
			return fieldpath.Item(scalar())
		case 2:
			return fieldpath.Index(r.IntN(3))
		}
		return fieldpath.Field(name())
	}
	var all []fieldpath.Path
	for range 3000 {
		var path fieldpath.Path
		for range 1 + r.IntN(4) {
			path = append(path, element())
		}
		all = append(all, path)
	}
	for i, path := range all {
		s, err := Parse(path.Text())
		if err != nil {
			t.Fatalf("%q is not accepted as it is printed: %v", path.Text(), err)
		}
		if back, ok := s.Path(); !ok || !slices.Equal(back, path) {
			t.Errorf("%s is read as %s", path.Text(), back.Text())
		}
		near := all[max(0, i-20):min(len(all), i+20)]
		selected, err := s.Among(near)
		if err != nil {
			t.Errorf("%s: %v", path.Text(), err)
			continue
		}
		for j, q := range near {
			if inside := q.HasPrefix(path); (selected[j] != nil) != inside || inside && !slices.Equal(selected[j], path) {
				t.Errorf("%s selects %s of %s", path.Text(), selected[j].Text(), q.Text())
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", ".", ".a..b", ".a[", ".a[name]", ".a[b", `.a["b`, `."a`, ".a]b[", ".a[0]b"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}
