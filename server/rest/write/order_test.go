package write

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// TestArrange compares what is taken for the order of a map, name by name, with the text of a document.
func TestArrange(t *testing.T) {
	const names = `. f:a f:a! f:a" f:a"b f:a\ f:a\b f:aa f:é f:a<b k:{"name":"a"} k:{"name":"a-b"} k:{"n":80} k:{"n":443} i:1 v:"x"`
	inOrder := 0
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
			if isInOrder(text) {
				if inOrder++; text != want {
					t.Errorf("%s is taken for ordered, want %s", text, want)
				}
			}
			for range 2 { // a text, and one that is remembered
				entries := []managedfields.Entry{{FieldsV1: managedfields.FieldsOf(text)}, {}}
				if err := known.arrange(entries); err != nil || entries[0].FieldsV1.String() != want || !entries[1].FieldsV1.IsAbsent() {
					t.Errorf("%s becomes %v, want %s", text, entries, want)
				}
			}
		}
	}
	if inOrder < 50 {
		t.Errorf("only %d were in order", inOrder)
	}
}
