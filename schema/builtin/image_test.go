package builtin

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestLongImages checks which references are too long to have the tag latest: the path of a repository has at most 255 bytes, and one on the
// usual host begins with library.
func TestLongImages(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for image, want := range map[string]bool{
		long(247):                       true,
		long(248):                       false,
		"docker.io/" + long(248):        false,
		"a/" + long(253):                true,
		"a/" + long(254):                false,
		"example.org/" + long(255):      true,
		"example.org/" + long(256):      false,
		long(247) + ":latest":           true,
		long(247) + ":1":                false,
		"localhost/" + long(255) + ":1": false,
	} {
		if got := isLatest(value.String(image)); got != want {
			t.Errorf("%.20s... of %d bytes: got %v, want %v", image, len(image), got, want)
		}
	}
}
