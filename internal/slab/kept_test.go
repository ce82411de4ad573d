package slab

import "testing"

// TestKept checks that an array of the largest permitted size is kept, and a larger one is not.
func TestKept(t *testing.T) {
	scratch := make([]int, 3, 8)
	if kept := Kept(scratch, 8); len(kept) != 0 || cap(kept) != 8 || &kept[:1][0] != &scratch[0] {
		t.Errorf("of an array of 8, of which 3 are used, %d elements and room for %d are kept", len(kept), cap(kept))
	}
	if kept := Kept(scratch, 7); kept != nil {
		t.Errorf("an array of 8 is kept, though at most 7 are to be")
	}
	if kept := Kept[int](nil, 7); kept != nil {
		t.Errorf("of nothing, %d elements are kept", len(kept))
	}
}
