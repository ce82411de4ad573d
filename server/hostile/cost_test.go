package hostile_test

import (
	"testing"

	"github.com/deed-project/deed/server/hostile"
)

// TestGrows distinguishes linear growth, with a constant part and noise, from quadratic growth.
func TestGrows(t *testing.T) {
	const free = 10
	for _, c := range []struct {
		counts [3]int64
		grows  bool
	}{
		{[3]int64{1000, 2000, 4000}, false}, {[3]int64{5000, 6000, 8000}, false}, {[3]int64{1000, 2200, 4800}, false},
		{[3]int64{178, 151, 285}, false}, {[3]int64{0, 0, free}, false}, {[3]int64{4, 4, 0}, false},
		{[3]int64{1000, 4000, 16000}, true}, {[3]int64{2000, 5000, 17000}, true}, {[3]int64{0, 0, free + 1}, true},
	} {
		if hostile.Grows(c.counts, free) != c.grows {
			t.Errorf("%d: want %v", c.counts, c.grows)
		}
	}
}
