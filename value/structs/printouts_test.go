package structs

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-project/deed/value"
)

// amount has all that a key is made of, and counts how often it is printed.
type amount struct {
	calls *int
	Whole int64
	Scale int8
	Exact bool
	Unit  [2]string
	At    time.Time
}

var (
	printed      = map[string]int{}
	printoutRuns int64
)

// printedLike converts a, in a field and behind a pointer, like another document.
func printedLike(a amount, like value.Value) (value.Value, error) {
	was := value.Object()
	if !like.IsAbsent() {
		was = value.Object(value.Member{Name: "A", Value: like}, value.Member{Name: "B", Value: like})
	}
	v, err := decodeAfter(&struct {
		A amount
		B *amount
	}{a, &a}, was)
	if err == nil && !v.Get("A").Equal(v.Get("B")) {
		err = fmt.Errorf("%v and %v are not one", v.Get("A"), v.Get("B"))
	}
	return v.Get("A"), err
}

func (a amount) text() string {
	text := fmt.Sprintf("%v %v %v %.9q %v %v %v", a.Whole, a.Scale, a.Exact, a.Unit, a.At.UnixNano(), a.At.Location(), a.calls)
	if a.Unit[1] == "loud" {
		text += strings.Repeat("!", maxKey)
	}
	return text
}

func (a amount) MarshalText() ([]byte, error) {
	text := a.text()
	if printed[text]++; a.Unit[0] == "none" {
		return nil, fmt.Errorf("no unit")
	}
	return []byte(text), nil
}

// TestPrintouts demands that a method is asked once for a value that an earlier document has, and
// that values which differ in anything are not taken for each other.
func TestPrintouts(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	printoutRuns++ // what an earlier run printed is remembered
	base := amount{Whole: printoutRuns, Scale: 2, Unit: [2]string{"a", "b"}, At: noon}
	vary := []func(*amount){
		func(*amount) {},
		func(a *amount) { a.Whole = -a.Whole },
		func(a *amount) { a.Whole += 1 << 62 },
		func(a *amount) { a.Scale = -1 },
		func(a *amount) { a.Exact = true },
		func(a *amount) { a.Unit = [2]string{"a", "c"} },
		func(a *amount) { a.Unit = [2]string{"ab", ""} },
		func(a *amount) { a.Unit = [2]string{"", "ab"} },
		func(a *amount) { a.At = noon.Local() },
		func(a *amount) { a.At = noon.Add(1) },
	}
	clear(printed)
	for round := range 5 {
		for _, set := range vary {
			a := base
			set(&a)
			like := value.String(a.text())
			got, err := printedLike(a, like)
			if err != nil || !got.Equal(like) {
				t.Fatalf("%v is %v (error %v)", a, got, err)
			}
			if calls := printed[a.text()]; calls != 1 {
				t.Errorf("round %d: %v was printed %d times", round, a, calls)
			}
		}
	}
}

// TestUnrememberedPrintouts demands that methods are asked again, here in two places of two
// documents, for what may be another value, and for what an earlier document has not.
func TestUnrememberedPrintouts(t *testing.T) {
	same := func(a amount) value.Value { return value.String(a.text()) }
	for _, c := range []struct {
		name string
		set  func(*amount)
		like func(amount) value.Value
	}{
		{"a reference", func(a *amount) { a.calls = new(int) }, same},
		{"another time zone", func(a *amount) { a.At = a.At.In(time.FixedZone("there", 3600)) }, same},
		{"a long string", func(a *amount) { a.Unit[0] = strings.Repeat("x", maxKey+1) }, same},
		{"long strings", func(a *amount) { a.Unit = [2]string{strings.Repeat("x", maxKey/2), strings.Repeat("y", maxKey/2)} }, same},
		{"a long text", func(a *amount) { a.Unit[1] = "loud" }, same},
		{"another text", func(a *amount) { a.Unit[0] = "new" }, func(amount) value.Value { return value.String("old") }},
		{"no earlier document", func(a *amount) { a.Unit[0] = "newer" }, func(amount) value.Value { return value.Value{} }},
		{"an object", func(a *amount) { a.Unit[0] = "newest" }, func(amount) value.Value { return value.Object() }},
	} {
		a := amount{Whole: 3, Unit: [2]string{"c", "d"}}
		c.set(&a)
		clear(printed)
		for range 2 {
			if got, err := printedLike(a, c.like(a)); err != nil || got.Str() != a.text() {
				t.Errorf("%s: %v is %v (error %v)", c.name, a, got, err)
			}
		}
		if calls := printed[a.text()]; calls != 4 {
			t.Errorf("%s: printed %d times instead of 4", c.name, calls)
		}
	}
	broken := amount{Unit: [2]string{"none"}}
	for range 2 {
		if got, err := printedLike(broken, same(broken)); err == nil {
			t.Errorf("no error, but %v", got)
		}
	}
}

// TestManyPrintouts lets goroutines convert many more values than there are places.
func TestManyPrintouts(t *testing.T) {
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i := range 20_000 {
				at := time.Unix(int64(i%5000), 0)
				want := at.Format(time.RFC3339Nano)
				if got, err := decodeAfter([]time.Time{at}, value.List(value.String(want))); err != nil || got.Item(0).Str() != want {
					t.Errorf("got %v (error %v), want %s", got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}
