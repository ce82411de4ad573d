package slab

import "strings"

// Text cuts many short strings from few arrays, as [Slab] does with slices: about one allocation per hundred strings. A string
// keeps its whole array alive. The zero Text is ready. It must not be copied after its first use, nor used by two goroutines at
// once. Its strings may be copied and shared.
type Text struct {
	// Scratch is a buffer in which the caller composes a string for Cut.
	Scratch []byte

	array strings.Builder // its buffer is allocated once and never grows, so that cut strings stay valid
}

// Arrays grow from the smallest to the largest size, in bytes.
const (
	minText = 256
	maxText = 4096
)

// Cut returns text as a string in memory of this Text.
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
