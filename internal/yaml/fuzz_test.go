package yaml

import (
	"os"
	"testing"

	"github.com/deed-project/deed/value"
)

// FuzzParse checks that Parse returns, and that it inverts Append on every value that it accepts.
func FuzzParse(f *testing.F) {
	for _, c := range rules {
		f.Add([]byte(c.text))
	}
	for _, c := range differences {
		f.Add([]byte(c.text))
	}
	for _, c := range printed {
		f.Add([]byte(c.want))
		f.Add([]byte(c.value))
	}
	objects, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(objects)
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := Parse("f", text)
		if err != nil {
			return
		}
		for _, d := range docs {
			if d.Line < 1 {
				t.Fatalf("a document begins in line %d", d.Line)
			}
			if size(d.Value) < 1<<16 {
				checkRoundTrip(t, d.Value)
			}
		}
	})
}

// size returns the approximate length of v when it is printed with indentation.
func size(v value.Value) int {
	n, _ := measure(v)
	return n
}

func measure(v value.Value) (size, lines int) {
	size, lines = len(v.Str())+1, 1
	add := func(item value.Value) {
		s, l := measure(item)
		size += s + 2*l
		lines += l
	}
	for item := range v.Items() {
		add(item)
	}
	for name, item := range v.Members() {
		size += len(name)
		add(item)
	}
	return size, lines
}

// FuzzAppend checks that every string reads back: alone, as a name, and within a list.
func FuzzAppend(f *testing.F) {
	for _, s := range pieces {
		f.Add(s)
		f.Add("a" + s + "b")
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = string([]rune(s))
		str := value.String(s)
		checkRoundTrip(t, str)
		checkRoundTrip(t, value.List(value.List(str, value.Object(value.Member{Name: s, Value: str}))))
		checkRoundTrip(t, value.Object(value.Member{Name: s, Value: value.List(str)}))
	})
}

// FuzzCompareNatural checks that compareNatural is antisymmetric, and 0 only for equal names.
func FuzzCompareNatural(f *testing.F) {
	f.Add("item2", "item10")
	f.Add("a01", "a1")
	f.Add("x10.5", "x100")
	f.Add("x1é", "x1è")
	f.Add("\xc3", "\xc3\xa9")
	f.Fuzz(func(t *testing.T, a, b string) {
		c := compareNatural(a, b)
		if c != -compareNatural(b, a) || (c == 0) != (a == b) {
			t.Errorf("%q, %q: %d and %d", a, b, c, compareNatural(b, a))
		}
	})
}
