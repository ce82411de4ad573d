package structs

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestDepth nests values as deeply as may be, and one level deeper. A pointer is a level, too, but no container.
func TestDepth(t *testing.T) {
	for name, wrap := range map[string]func(any) any{
		"lists":    func(in any) any { return []any{in} },
		"maps":     func(in any) any { return map[string]any{"a": in} },
		"pointers": func(in any) any { return &in },
		"structs":  func(in any) any { return struct{ In any }{in} },
	} {
		x := any(1)
		for range value.MaxDepth {
			x = wrap(x)
		}
		v, err := From(x)
		if err != nil {
			t.Errorf("%s: %.80v", name, err)
		}
		if after, err := decodeAfter(x, v); err != nil || !after.Equal(v) {
			t.Errorf("%s after themselves: %.80v", name, err)
		}
		if _, err := From(wrap(x)); err == nil {
			t.Errorf("%s may be one level deeper", name)
		}
	}
}

// TestDepthIsNotWidth converts more values beside each other than may be in one another.
func TestDepthIsNotWidth(t *testing.T) {
	one := 1
	for name, in := range map[string]any{
		"structs": struct{ A int }{1}, "pointers": &one, "lists": []any{1}, "slices": []int{1}, "arrays": [1]int{1},
		"maps": map[string]any{"a": 1}, "maps of strings": map[string]string{"a": "b"}, "maps of integers": map[string]int{"a": 1},
		"maps by integers": map[int]int{1: 1},
	} {
		all := make([]any, value.MaxDepth+1)
		for i := range all {
			all[i] = in
		}
		v, err := From(all)
		if err != nil {
			t.Fatalf("%s: %.80v", name, err)
		}
		all[0] = "first"
		if _, err := decodeAfter(all, v); err != nil {
			t.Errorf("%s after others: %.80v", name, err)
		}
	}
}

// TestDecodeKeepsNoChain converts documents of which one half changes twice, and then the other, so that each shares the other half with the
// one before. None may keep alive what only earlier documents had.
func TestDecodeKeepsNoChain(t *testing.T) {
	const size, rounds = 1 << 16, 300
	type (
		leaf  struct{ V string }
		under struct {
			C any
			D string
		}
		whole struct {
			A any
			B under
		}
		flat  struct{ A, B any }
		mixed struct {
			K []int
			V string
		}
	)
	object := func(a, b any) any { return whole{a, under{b, "x"}} }
	list := func(a, b any) any { return [2]any{a, []any{b, "x"}} }
	for name, form := range map[string]struct {
		whole func(a, b any) any
		half  func(s string) any
	}{
		"structs":           {object, func(s string) any { return &leaf{s} }},
		"slices":            {list, func(s string) any { return []string{s} }},
		"slices in structs": {func(a, b any) any { return flat{a, b} }, func(s string) any { return []leaf{{s}} }},
		"structs half new":  {object, func(s string) any { return &mixed{[]int{1}, s} }},
		"maps":              {object, func(s string) any { return map[string]string{"v": s} }},
		"maps of maps": {func(a, b any) any { return map[string]any{"a": a, "b": map[string]any{"c": b}} },
			func(s string) any { return map[string]leaf{"v": {s}} }},
	} {
		var d value.Decoder
		before := liveHeap()
		halves := [2]any{form.half("a"), form.half("b")}
		for i := range rounds {
			halves[i/2%2] = form.half(strings.Repeat(fmt.Sprint(i%10), size))
			if _, err := Decode(&d, form.whole(halves[0], halves[1])); err != nil {
				t.Fatal(err)
			}
		}
		halves = [2]any{}
		if held := liveHeap() - before; held > rounds/10*size {
			t.Errorf("%s: %d bytes are held by a document of %d", name, held, 2*size)
		}
		runtime.KeepAlive(&d)
	}
}

// liveHeap returns how many bytes are in use.
func liveHeap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
