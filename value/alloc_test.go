package value

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/deed-project/deed/internal/testing/race"
)

func TestSizes(t *testing.T) {
	if strconv.IntSize != 64 {
		t.Skip("sizes are promised where pointers have 64 bits")
	}
	if size := reflect.TypeFor[Value]().Size(); size != 16 {
		t.Errorf("a Value has %d bytes, want 16", size)
	}
	if size := reflect.TypeFor[Member]().Size(); size != 32 {
		t.Errorf("a Member has %d bytes, want 32", size)
	}
}

func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("not under the race detector")
	}
	text := []byte(`{"kind":"Pod","spec":{"ports":[80,443],"on":true},"text":"a\nb"}`)
	scalar := []byte(`"ten or so"`)
	v, w := mustParse(t, text), mustParse(t, text)
	name := strings.Repeat("x", 10)
	held := v.ToAny()
	var items []Value
	var members []Member
	for i := range 1000 {
		items, members = append(items, String("x")), append(members, Member{strconv.Itoa(i), String("x")})
	}
	list, object := List(items...), Object(members...)
	buffer := make([]byte, 0, 100)
	var sink Value
	for _, test := range []struct {
		name string
		want float64
		f    func()
	}{
		{"Null", 0, func() { sink = Null() }},
		{"Bool", 0, func() { sink = Bool(true) }},
		{"Int", 0, func() { sink = Int(1 << 40) }},
		{"Float", 0, func() { sink = Float(0.5) }},
		{"String", 0, func() { sink = String(name) }},
		{"Get", 0, func() { sink = v.Get("spec") }},
		{"Get of two names", 0, func() { sink = v.Get("spec", "ports") }},
		{"Equal", 0, func() { _ = v.Equal(w) }},
		{"Compare", 0, func() { _ = Compare(v, w) }},
		{"AppendJSON", 0, func() { buffer = v.AppendJSON(buffer[:0]) }},
		{"AppendJSON of a list to nothing", 1, func() { _ = list.AppendJSON(nil) }},
		{"AppendJSON of an object to nothing", 1, func() { _ = object.AppendJSON(nil) }},
		{"With", 1, func() { sink = v.With("spec", Null()) }},
		{"Parse of a scalar", 1, func() { sink = mustParse(t, scalar) }},
		{"Parse", 3, func() { sink = mustParse(t, text) }}, // the members, the items, the strings
		{"FromAny", 3, func() { sink, _ = FromAny(held) }},
	} {
		if got := testing.AllocsPerRun(100, test.f); got > test.want {
			t.Errorf("%s: %v allocations, want at most %v", test.name, got, test.want)
		}
	}
	_ = sink
}

// TestConcurrent shares documents and pools between goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	text := podText(t)
	shared := mustParse(t, text)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				held, err := FromAny(shared.ToAny())
				if err != nil || !held.Equal(shared) || !mustParse(t, text).Equal(shared) {
					t.Errorf("a document differs from itself: %v", err)
				}
			}
		})
	}
	all.Wait()
}
