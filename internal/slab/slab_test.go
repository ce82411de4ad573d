package slab

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// TestTake takes slices of many sizes. It checks that no two slices share an element, and that the waste is small.
func TestTake(t *testing.T) {
	r := seeds.Rand(t)
	for range 200 {
		s := Slab[int]{Due: r.IntN(2000), Most: r.IntN(2) * 100}
		var taken [][]int
		total := 0
		for i := range r.IntN(400) {
			n := r.IntN(20)
			if r.IntN(50) == 0 {
				n = r.IntN(1000)
			}
			part := s.Take(n)
			if len(part) != n || cap(part) != n && n > 0 && cap(part) > 2*n+8 {
				t.Fatalf("a slice of %d elements has length %d, capacity %d", n, len(part), cap(part))
			}
			for j := range part {
				if part[j] != 0 {
					t.Fatal("an element was taken before")
				}
				part[j] = i + 1
			}
			taken = append(taken, part)
			total += n
		}
		for i, part := range taken {
			for _, e := range part {
				if e != i+1 {
					t.Fatalf("an element of slice %d belongs to slice %d", i, e-1)
				}
			}
		}
		if s.made > total+total/2+max(s.Due, minSize)+maxSize {
			t.Errorf("%d elements were allocated for %d, %d due", s.made, total, s.Due)
		}
	}
}
