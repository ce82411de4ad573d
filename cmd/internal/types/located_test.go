package types

import "testing"

// TestLocated checks that a refusal of the whole object, such as one that is too large, has no empty path.
func TestLocated(t *testing.T) {
	for _, c := range [][3]string{
		{".spec.replicas", "Invalid value", ".spec.replicas: Invalid value"},
		{"", "Too long", "Too long"},
	} {
		if got := Located(c[0], c[1]); got != c[2] {
			t.Errorf("Located(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
