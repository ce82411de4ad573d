package slab

import "strings"

// Text cuts many short strings from few arrays, as [Slab] does with slices: about one allocation in a hundred strings. A string
// that is kept keeps the array that it was cut from. The zero Text is ready. It must not be copied after its first use, nor
// used by two goroutines at once; its strings are free of both rules.
type Text struct {
	// Scratch is where the caller puts a string together that it cuts then.
	Scratch []byte

	array strings.Builder // its buffer is allocated once and never outgrown, so what was cut from it stays put
}

// Arrays grow from the smallest to the largest size, in bytes.
const (
	minText = 256
	maxText = 4096
)

// Cut returns text as a string that nobody else has.
func (t *Text) Cut(text []byte) string {
	if t.array.Cap()-t.array.Len() < len(text) {
		size := max(len(text), min(max(2*t.array.Cap(), minText), maxText))
		t.array.Reset()
		t.array.Grow(size)
	}
	start := t.array.Len()
	t.array.Write(text)
	return t.array.String()[start:]
}
