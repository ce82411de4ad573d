package write

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// TestArrange puts pairs of names in the order of a map, and compares with the text of a document.
func TestArrange(t *testing.T) {
	const names = `. f:a f:a! f:a" f:a"b f:a\ f:a\b f:aa f:é f:a<b k:{"name":"a"} k:{"name":"a-b"} k:{"n":80} k:{"n":443} i:1 v:"x"`
	var known ordered
	for _, a := range strings.Fields(names) {
		for _, b := range strings.Fields(names) {
			if a == b {
				continue
			}
			text := fmt.Sprintf(`{%s:{},"f:z":{%[1]s:{".":{}},%s:{}}}`, value.String(a), value.String(b))
			if a[0] == 'k' || a[0] == 'v' || a[0] == 'i' {
				text = fmt.Sprintf(`{%s:{".":{}},%s:{}}`, value.String(a), value.String(b))
			}
			document, err := value.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			want := document.String()
			for range 2 { // a text, and one that is cached
				entries := []managedfields.Entry{{FieldsV1: managedfields.FieldsOf(text)}, {}}
				if err := known.arrange(entries); err != nil || entries[0].FieldsV1.String() != want || !entries[1].FieldsV1.IsAbsent() {
					t.Errorf("%s becomes %v, want %s", text, entries, want)
				}
			}
		}
	}
}
