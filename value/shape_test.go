package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
)

// TestShapes converts documents whose names come again, in these places and in others, with and
// without a part that is left out. It demands what their texts say.
func TestShapes(t *testing.T) {
	guessed := 0
	seeded(t, 300, func(t *testing.T, r *rand.Rand) {
		c := &converter{shapes: new(shapes)}
		for range 20 {
			doc := randomShaped(r, 3)
			var except []string
			if r.IntN(3) == 0 {
				except = []string{shapeNames[r.IntN(len(shapeNames))], shapeNames[r.IntN(len(shapeNames))]}[:1+r.IntN(2)]
			}
			c.except = nil
			if len(except) > 0 {
				c.except = except
			}
			c.under = ""
			got, conversion := c.value(doc.ToAny(), Value{})
			if conversion != nil {
				t.Fatal(conversion)
			}
			if want := without(doc, except); got.String() != want.String() || !got.Equal(want) {
				t.Fatalf("%v without %q: got %v, want %v", doc, except, got, want)
			}
			if s := c.shapes.of("", doc.Len()); s != nil && s.members != nil && s.missed == 0 {
				guessed++
			}
		}
	})
	if guessed < few(1000) {
		t.Errorf("the names of only %d documents were guessed", guessed)
	}
}

var shapeNames = strings.Fields("a b c kind name spec status value")

// randomShaped returns an object with few names, and lists of such objects in it.
func randomShaped(r *rand.Rand, depth int) Value {
	var members []Member
	for _, name := range shapeNames {
		switch n := r.IntN(8); {
		case n < 3:
			members = append(members, Member{name, Int(int64(r.IntN(3)))})
		case n < 5 && depth > 0:
			members = append(members, Member{name, randomShaped(r, depth-1)})
		case n < 6 && depth > 0:
			members = append(members, Member{name, List(randomShaped(r, depth-1), randomShaped(r, depth-1))})
		}
	}
	return Object(members...)
}

// TestShapesAreBounded demands that long names and large objects are not remembered, and that one
// object with other names does not take the place of the usual ones.
func TestShapesAreBounded(t *testing.T) {
	many := make([]Member, maxShape+1)
	for i := range many {
		many[i] = Member{Name: fmt.Sprintf("name-%02d", i), Value: Null()}
	}
	var known shapes
	if known.of("spec", 1) != nil || known.of("spec", len(many)) != nil {
		t.Error("an object of one member, or a large one, has a shape")
	}
	usual := known.of("spec", 2)
	usual.met([]Member{{Name: "a"}, {Name: strings.Repeat("b", maxName+1)}}, false)
	if usual.members != nil {
		t.Error("a long name is remembered")
	}
	usual.met(many[:2], false)
	for range maxMissed - 1 {
		usual.met(many[2:4], false)
	}
	if usual.members[0].Name != "name-00" {
		t.Error("the usual names are forgotten too soon")
	}
	usual.met(many[2:4], false)
	if usual.members[0].Name != "name-02" || !usual.members[0].Value.IsAbsent() {
		t.Errorf("new names are not remembered, or with values: %v", usual.members)
	}
}

// TestShapesCostNothing demands that a document whose names were met is converted without memory for
// names.
func TestShapesCostNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("not under the race detector")
	}
	held := mustParse(t, []byte(`{"kind":"Pod","spec":{"node":"n","on":true},"metadata":{"labels":{"x":"y"},"name":"x"}}`)).ToAny()
	c := &converter{shapes: new(shapes)}
	if got := testing.AllocsPerRun(100, func() {
		c.arena, c.under = arena{}, ""
		if _, err := c.value(held, Value{}); err != nil {
			t.Fatal(err)
		}
	}); got > 1 {
		t.Errorf("%v allocations, want one for the members", got)
	}
}
