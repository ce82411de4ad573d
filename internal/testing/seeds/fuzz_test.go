package seeds

import (
	"bytes"
	"testing"
)

// TestMutator makes inputs of two texts. They have a bounded length, seldom repeat, and are equal for equal seeds.
func TestMutator(t *testing.T) {
	m := func() *mutator {
		return &mutator{random: Stream(1, 0), corpus: [][]byte{[]byte(`{"a":[1,"b"]}`), bytes.Repeat([]byte("abcd: ef\n"), 450)}}
	}
	first, second, seen := m(), m(), map[string]bool{}
	for range 1000 {
		input := string(first.next())
		if again := string(second.next()); again != input {
			t.Fatalf("%q and %q are of one seed", input, again)
		}
		if len(input) > 4<<10 {
			t.Errorf("an input has %d bytes", len(input))
		}
		seen[input] = true
	}
	if len(seen) < 900 {
		t.Errorf("of 1,000 inputs %d differ", len(seen))
	}
}
