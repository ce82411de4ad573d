package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
)

// An update that sends one entry with nothing in it resets the managed fields. One that sends but a single member of an entry does
// not: that is invalid, and the live object's entries count.
func TestOnlyAnEmptyEntryResets(t *testing.T) {
	const live = `[{"manager":"m","operation":"Apply","apiVersion":"example.com/v1","time":"2026-01-01T00:07:00Z",
		"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]`
	for entry, want := range map[string]string{
		``: "", `"manager":"x"`: "m", `"operation":"Apply"`: "m", `"apiVersion":"v1"`: "m", `"time":"2026-01-01T00:07:00Z"`: "m",
		`"fieldsType":"FieldsV1"`: "m", `"fieldsV1":{}`: "m", `"subresource":"status"`: "m",
	} {
		o := kindtest.New(t, `"metadata":{"name":"one"},"spec":{"replicas":1}`)
		sent := o
		o.Entries, sent.Entries = kindtest.Entries(t, live), kindtest.Entries(t, `[{`+entry+`}]`)
		out, err := kindtest.Manager(nil).Update(o, sent, "u")
		if err != nil {
			t.Fatal(err)
		}
		if got := kindtest.Show(t, out.Entries); (got == "") != (want == "") {
			t.Errorf("one entry {%s}: %q are left", entry, got)
		}
	}
}
