package fieldpath

import (
	"math/rand/v2"
	"testing"
)

// The words that plainEnd looks at overlap, and the subtraction that finds a byte may borrow from the next: every place of
// every kind of byte beside every other is tried.
func TestPlainEnd(t *testing.T) {
	const bytes = "\"#\\] !\x00\x01\x1f\x7f\x80\xffa"
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		text := make([]byte, r.IntN(24))
		for i := range text {
			text[i] = 'a'
			if r.IntN(3) == 0 {
				text[i] = bytes[r.IntN(len(bytes))]
			}
		}
		from := r.IntN(len(text) + 1)
		want := from
		for want < len(text) && text[want] >= ' ' && text[want] != '"' && text[want] != '\\' {
			want++
		}
		if got := plainEnd(string(text), from); got != want {
			t.Fatalf("in %q from %d on: %d, want %d", text, from, got, want)
		}
	}
}
