package value

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestDecoderKeepsNoChain reads documents of which one half changes twice, and then the other, so that each shares the other half with the one
// before. None may keep alive what only earlier documents had.
func TestDecoderKeepsNoChain(t *testing.T) {
	const size, rounds = 1 << 16, 300
	object := func(a, b any) any { return map[string]any{"a": a, "b": map[string]any{"c": b, "d": "x"}} }
	flat := func(a, b any) any { return map[string]any{"a": a, "b": b} }
	list := func(a, b any) any { return []any{a, []any{b, "x"}} }
	forms := map[string]struct {
		whole func(a, b any) any
		half  func(s string) any
	}{
		"objects":          {object, func(s string) any { return map[string]any{"v": s} }},
		"lists":            {list, func(s string) any { return []any{s} }},
		"lists in objects": {object, func(s string) any { return []any{map[string]any{"v": s}, map[string]any{}} }},
		"lists in one":     {flat, func(s string) any { return []any{map[string]any{"v": s}} }},
		"objects half new": {object, func(s string) any { return map[string]any{"k": []any{1}, "v": s} }},
		"lists half new":   {list, func(s string) any { return []any{[]any{1}, s} }},
		"objects in lists": {list, func(s string) any { return map[string]any{"v": []any{s}} }},
	}
	read := map[string]func(d *Decoder, v Value) (Value, error){
		"FromAny": func(d *Decoder, v Value) (Value, error) { return d.FromAny(v.ToAny()) },
		"Parse":   func(d *Decoder, v Value) (Value, error) { return d.Parse(v.AppendJSON(nil)) },
	}
	for name, form := range forms {
		for how, read := range read {
			var d Decoder
			before := liveHeap()
			halves := [2]any{form.half("a"), form.half("b")}
			for i := range rounds {
				halves[i/2%2] = form.half(strings.Repeat(fmt.Sprint(i%10), size))
				v, err := FromAny(form.whole(halves[0], halves[1]))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := read(&d, v); err != nil {
					t.Fatal(err)
				}
			}
			halves = [2]any{}
			if held := liveHeap() - before; held > rounds/10*size {
				t.Errorf("%s by %s: %d bytes are held by a document of %d", name, how, held, 2*size)
			}
			runtime.KeepAlive(&d)
		}
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
