package selector

import (
	"errors"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

const object = `{
	"metadata": {"annotations": {"example.org/team": "a", "x.y": "b", "x": {"y": "c"}}},
	"spec": {"replicas": 3, "containers": [{"name": "web", "image": "a:1"}, {"name": "side", "image": "b:1"}], "finalizers": ["a", "b"]}
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
		{".metadata.annotations.example.org/team", `.metadata.annotations["example.org/team"]`},
		{`.metadata.annotations["example.org/team"]`, `.metadata.annotations["example.org/team"]`},
		{`.metadata.annotations."example.org/team"`, `.metadata.annotations["example.org/team"]`},
		{`.metadata.annotations["example"]`, ""},
		{".metadata.annotations.x.y", `ambiguous: .metadata.annotations.x.y .metadata.annotations["x.y"]`},
		{`.metadata.annotations["x.y"]`, `.metadata.annotations["x.y"]`},
		{`.metadata.annotations["x"].y`, `.metadata.annotations.x.y`},
		{"containers[*].image", ".spec.containers[0].image .spec.containers[1].image"},
		{".spec.containers[*].image", ".spec.containers[0].image .spec.containers[1].image"},
		{`.spec.containers[name="side"].image`, `.spec.containers[name="side"].image`},
		{`.spec.containers[1].image`, `.spec.containers[1].image`},
		{`.spec.finalizers[="b"]`, `.spec.finalizers[="b"]`},
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
			texts = append(texts, Exact(p))
		}
		if got := strings.Join(texts, " "); got != c.want {
			t.Errorf("%s selects %s, want %s", c.selector, got, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	web := fieldpath.Key(fieldpath.KeyField{Name: "name", Value: value.String("web")}, fieldpath.KeyField{Name: "p", Value: value.Int(1)})
	image := fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("containers"), web, fieldpath.Field("image")}
	team := fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("annotations"), fieldpath.Field("example.org/team")}
	for _, c := range []struct {
		selector string
		path     fieldpath.Path
		length   int // of what is selected, -1 for nothing
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
		selected, ok := s.Match(c.path)
		if ok != (c.length >= 0) || ok && len(selected) != c.length {
			t.Errorf("%s of %v: %v, %v, want %d elements", c.selector, c.path, selected, ok, c.length)
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
