package walk

import (
	"context"
	"fmt"
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/value"
)

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const object = `{"metadata":{"labels":{"a/b":"c"}},"spec":{"ports":[{"port":1},{"port":70000}],"none":null}}`

// TestPlaces goes to places that are there and to some that are not. PathIn finds each by the text of its path.
func TestPlaces(t *testing.T) {
	w := New(t.Context())
	defer w.Free()
	root := w.Root(parsed(t, object))
	spec := root.At("spec")
	for _, c := range []struct {
		at    Place
		path  string
		found string // by PathIn
		isSet bool
	}{
		{spec, "spec", ".spec", true},
		{spec.At("ports").Index(1).At("port"), "spec.ports[1].port", ".spec.ports[1].port", true},
		{root.At("metadata").At("labels").Entry(0), "metadata.labels[a/b]", ".metadata.labels.a/b", true},
		{spec.At("none"), "spec.none", "", false},
		{spec.At("other").At("member"), "spec.other.member", "", false},
	} {
		if got := c.at.Path().String(); got != c.path || c.at.IsSet() != c.isSet {
			t.Errorf("the place is %q (there: %t), want %q (%t)", got, c.at.IsSet(), c.path, c.isSet)
		}
		if got := PathIn(root.Value, c.path).String(); c.isSet && got != c.found {
			t.Errorf("PathIn finds %q for %q, want %q", got, c.path, c.found)
		}
	}
}

// TestReport refuses values by rules that many kinds share. What is told after the rest comes last.
func TestReport(t *testing.T) {
	w := New(t.Context())
	defer w.Free()
	var r Report
	ports := w.Root(parsed(t, object)).At("spec").At("ports")
	r.RequiredLater(ports.Index(0).At("name"), "")
	for i := range ports.Indexes() {
		r.Port(ports.Index(i).At("port"))
	}
	want := "[spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive spec.ports[0].name: Required value]"
	if got := fmt.Sprint(append(r.Errs, r.Last...)); got != want {
		t.Errorf("the report is\n%s, want\n%s", got, want)
	}
}

// TestWalkEndsWithItsRequest walks over a long list whose request has ended.
func TestWalkEndsWithItsRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := New(ctx)
	defer w.Free()
	list := w.Root(value.List(make([]value.Value, 10_000)...))
	cancel()
	n := 0
	for i := range list.Indexes() {
		list.Index(i)
		n++
	}
	if n < 1000 || n > 3000 {
		t.Errorf("%d items were visited", n)
	}
}

// TestNames compares Names with a map.
func TestNames(t *testing.T) {
	r := seeds.Rand(t)
	for range 1000 {
		var names Names
		want := map[string]bool{}
		for range r.IntN(30) {
			name := fmt.Sprint(r.IntN(20))
			if names.Add(name) == want[name] {
				t.Fatalf("%s is new: %t", name, want[name])
			}
			want[name] = true
			if other := fmt.Sprint(r.IntN(20)); names.Has(other) != want[other] {
				t.Fatalf("%s is met: %t", other, !want[other])
			}
		}
		n := 0
		for name := range names.Each() {
			if n++; !want[name] {
				t.Fatalf("%s was never added", name)
			}
		}
		if n != len(want) {
			t.Fatalf("%d names, want %d", n, len(want))
		}
	}
}
