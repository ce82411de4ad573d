package managedfields

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/deed-project/deed/schema"
)

// Entries whose sets do not change keep the very text in which they came, wherever they stand among few or many; a text that is not
// written canonically is written anew.
func TestEntriesKeepTheirText(t *testing.T) {
	m, err := New(Config{
		GVK: schema.GVK{Version: "v1", Kind: "X"}, Types: map[string]*schema.Type{"v1": schema.Deduced}, MaxUpdateManagers: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	const loose, canonical = `{"f:spec":{"f:b":{},"f:a":{}}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`
	for _, n := range []int{3, 64, manyEntries + 2} {
		entries := make([]string, n)
		for i := range entries {
			entries[i] = fmt.Sprintf(`{"manager":"m%03d","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:f%d":{}}}}`, i, i)
		}
		entries[1] = `{"manager":"loose","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":` + loose + `}`
		live, err := ParseObject([]byte(`{"apiVersion":"v1","kind":"X","metadata":{"managedFields":[` + strings.Join(entries, ",") + `]},"spec":{"c":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		object, err := ParseObject([]byte(`{"apiVersion":"v1","kind":"X","spec":{"c":2}}`))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Update(live, object, "now")
		if err != nil || len(out.Entries) != n+1 {
			t.Fatalf("%d entries, want %d (%v)", len(out.Entries), n+1, err)
		}
		came := map[string]*byte{}
		for _, e := range live.Entries {
			came[e.Manager] = textOf(e)
		}
		for _, e := range out.Entries {
			switch at := textOf(e); e.Manager {
			case "loose":
				if got := e.FieldsV1.String(); got != canonical {
					t.Errorf("of %d entries, the loose one is written as %s", n, got)
				}
			case "now":
			default:
				if at == nil || at != came[e.Manager] {
					t.Errorf("of %d entries, that of %s is written anew: %v", n, e.Manager, e.FieldsV1)
				}
			}
		}
	}
}

// textOf returns where the text of the fields of e lies, and nil if they are no text.
func textOf(e Entry) *byte {
	text, _ := e.FieldsV1.held.(string)
	return unsafe.StringData(text)
}
