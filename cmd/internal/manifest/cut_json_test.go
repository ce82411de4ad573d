package manifest

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/work"
)

// TestPositionsOfDocumentsInOnePass counts the lines of many JSON documents, of lists and of both. Each byte is passed once.
func TestPositionsOfDocumentsInOnePass(t *testing.T) {
	const one, list = "{\"a\":\n1}\n", `{"kind":"List","apiVersion":"v1","items":[{"a":1},` + "\n" + `{"b":2}]}` + "\n"
	for _, test := range []struct {
		name, text string
		parts      int
		above      int // the lines in front of the last part
	}{
		{"documents", strings.Repeat(one, 1000), 1000, 1998},
		{"lists", strings.Repeat(list, 1000), 2000, 1999},
		{"both", strings.Repeat(one+list, 1000), 3000, 3999},
	} {
		text := &Text{Data: []byte(test.text)}
		var parts []*part
		passed := work.Record(func() { parts = text.cut() }).Bytes
		if len(parts) != test.parts || parts[len(parts)-1].above != test.above {
			t.Errorf("%s: %d parts, the last one below line %d, want %d and %d", test.name, len(parts), parts[len(parts)-1].above, test.parts, test.above)
		}
		if passed == 0 || passed > len(test.text) {
			t.Errorf("%s: %d of %d bytes are passed", test.name, passed, len(test.text))
		}
	}
}
