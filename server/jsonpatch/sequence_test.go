package jsonpatch

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestSequence changes a sequence and a slice in the same way, and compares them.
func TestSequence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int{0, 1, maxPiece, maxPiece + 1, 5 * maxPiece} {
		items := make([]value.Value, length)
		for i := range items {
			items[i] = value.Int(int64(i))
		}
		s := sequenceOf(value.List(items...))
		for i := range 20000 {
			// Long runs at one end fill and empty pieces.
			at := []int{0, len(items), r.IntN(len(items) + 1)}[r.IntN(3)]
			if grows := i/5000%2 == 0; grows == (r.IntN(4) > 0) || len(items) == 0 {
				items = slices.Insert(items, at, value.Int(int64(-i)))
				s.insert(at, item{was: value.Int(int64(-i))})
			} else {
				at = min(at, len(items)-1)
				items = slices.Delete(items, at, at+1)
				s.remove(at)
			}
			if s.count != len(items) {
				t.Fatalf("%d items, want %d", s.count, len(items))
			}
			if at = r.IntN(len(items) + 1); at < len(items) && !s.at(at).was.Equal(items[at]) {
				t.Fatalf("item %d is %v, want %v", at, s.at(at).was, items[at])
			}
		}
		for i, of := range s.all {
			if !of.was.Equal(items[i]) {
				t.Fatalf("item %d is %v, want %v", i, of.was, items[i])
			}
		}
		for i, piece := range s.pieces {
			if len(piece) == 0 || len(piece) > maxPiece {
				t.Errorf("piece %d of %d has %d items", i, len(s.pieces), len(piece))
			}
		}
	}
}
