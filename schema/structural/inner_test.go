package structural

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func parse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTidy drops nulls as it prunes, as two walks do.
func TestTidy(t *testing.T) {
	s, err := Compile(parse(t, `{"type":"object","properties":{
		"metadata":{"type":"object","properties":{"name":{"type":"string"}}},
		"a":{"type":"string"},"n":{"type":"string","nullable":true},"d":{"type":"integer","default":1},
		"kept":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"},"o":{"type":"object"}}},
		"any":{"type":"object","additionalProperties":true},"map":{"type":"object","additionalProperties":{"type":"string"}},
		"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}},
		"pods":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
			"properties":{"kind":{"type":"string"},"metadata":{"type":"object","properties":{"name":{"type":"string"}}},"a":{"type":"string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const members = `"a":null,"n":null,"d":null,"x":null,"kind":null,"o":null`
	for _, object := range []string{
		`{` + members + `}`, `{"apiVersion":null,"metadata":null}`, `{"metadata":{"name":null,"x":null}}`,
		`{"kept":{` + members + `},"any":{` + members + `},"map":{` + members + `}}`, `{"kept":{"o":{"x":null}},"any":{"o":{"x":null}}}`,
		`{"list":[null,{` + members + `},1,[null]],"kept":[{` + members + `}],"any":[{` + members + `}]}`,
		`{"pods":[{"metadata":null,` + members + `},{"metadata":{"name":null,"x":null},"apiVersion":1},null]}`,
	} {
		v := parse(t, object)
		pruned, unknown := s.prune(v, value.Value{}, false)
		want := s.DropNulls(pruned)
		got, paths := s.tidy(v, value.Value{})
		if !got.Equal(want) || !slices.Equal(paths, unknown) {
			t.Errorf("%s\nis   %v, %q\nwant %v, %q", object, got, paths, want, unknown)
		}
	}
}

// TestWideObjects walks objects of many members beside others, of which some are the same: what is the same is not looked at, and the
// outcome is that of a walk alone.
func TestWideObjects(t *testing.T) {
	const wide = 12000
	s, err := Compile(parse(t, `{"type":"object","properties":{"map":{"type":"object","additionalProperties":{"type":"object",
		"properties":{"a":{"type":"string"},"d":{"type":"integer","default":1},"s":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var members, some []string
	for i := range wide {
		members = append(members, fmt.Sprintf(`"m%05d":{"a":"x","s":["y"]}`, i))
		if i%3 > 0 {
			some = append(some, fmt.Sprintf(`"m%05d":{"a":null,"s":["y","y"],"z":1},"n%05d":{"d":2}`, i, i))
		}
	}
	object := func(members []string) value.Value {
		return parse(t, `{"apiVersion":"v1","kind":"K","metadata":{"name":"n","generation":1},"map":{`+strings.Join(members, ",")+`}}`)
	}
	known, err := s.load(object(members), value.Value{})
	if err != nil {
		t.Fatal(err)
	}
	known = s.fill(known, value.Value{})
	changed := object(some)
	mixed := known.Get("map")
	for i, m := range []string{"m00000", "m06000", "zzz"} {
		mixed = mixed.With(m, changed.Get("map").Member(i).Value)
	}
	for _, v := range []value.Value{known, changed, changed.With("map", mixed)} {
		alone, unknown, err := s.decode(v, value.Value{})
		beside, paths, besideErr := s.decode(v, known)
		if err != nil || besideErr != nil || !beside.Equal(alone) || !slices.Equal(paths, unknown) {
			t.Fatalf("%d unknown fields beside a known object, %d alone; %v, %v", len(paths), len(unknown), besideErr, err)
		}
		if !s.fill(beside, known).Equal(s.fill(alone, value.Value{})) {
			t.Error("other defaults beside a known object")
		}
		if got, want := s.duplicates(v, known), s.duplicates(v, value.Value{}); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d duplicates beside a known object, %d alone", len(got), len(want))
		}
	}
}
