package flowcontrol

import (
	"slices"
	"testing"
)

// TestRefusals refuses requests as a kube-apiserver did, so many in each second, and compares the header Retry-After.
func TestRefusals(t *testing.T) {
	refused := slices.Concat(
		slices.Repeat([]int{5}, 10), slices.Repeat([]int{1}, 6), slices.Repeat([]int{0}, 8), slices.Repeat([]int{1}, 5), slices.Repeat([]int{8}, 3),
	)
	want := []int64{1, 2, 2, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7, 6, 5, 4, 4, 4, 4, 8} // 0 without refusals
	var f refusals
	for i, n := range refused {
		for range n {
			if got := f.add(1_800_000_000 + int64(i)); got != want[i] {
				t.Errorf("second %d: %d, want %d", i, got, want[i])
			}
		}
	}
	for i := range 1000 {
		for range 100 {
			f.add(1_900_000_000 + int64(i))
		}
	}
	if f.after != maxAfter || len(f.past) > maxAfter+1 {
		t.Errorf("under load: %d seconds, %d counts are kept", f.after, len(f.past))
	}
}
