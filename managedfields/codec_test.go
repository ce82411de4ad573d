package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
)

// TestEncodeOrder demands rule S12: appliers first, then by time, unknown times first, then by name, version and subresource.
func TestEncodeOrder(t *testing.T) {
	entry := func(manager, operation, version, subresource, time string) string {
		return `{"manager":"` + manager + `","operation":"` + operation + `","apiVersion":"example.com/` + version +
			`","subresource":"` + subresource + `"` + time + `,"fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}`
	}
	const early, late = `,"time":"2026-01-01T00:01:00Z"`, `,"time":"2026-01-01T00:02:00Z"`
	managers, err := managedfields.Decode(kindtest.Entries(t, `[`+entry("a", "Update", "v2", "", late)+","+entry("a", "Update", "v1", "x", late)+","+
		entry("a", "Update", "v1", "", late)+","+entry("b", "Update", "v1", "", early)+","+entry("c", "Update", "v1", "", "")+","+
		entry("d", "Apply", "v1", "", late)+`]`))
	if err != nil {
		t.Fatal(err)
	}
	want := "d Apply v1 2: .a\nc Update v1 -: .a\nb Update v1 1: .a\na Update v1 2: .a\na Update v1/x 2: .a\na Update v2 2: .a\n"
	if got := kindtest.Show(t, managedfields.Encode(managers)); got != want {
		t.Errorf("got\n%s", got)
	}
}

// TestEntriesAreWrittenAnew demands that a write keeps the text of an entry that is canonical, and writes another one anew; and that
// what the schema has made atomic since is owned as a whole, whichever entry says otherwise.
func TestEntriesAreWrittenAnew(t *testing.T) {
	for text, want := range map[string]string{
		`{"f:spec":{"f:args":{}}}`:                           `{"f:spec":{"f:args":{}}}`,
		`{"f:spec":{"f:selector":{},"f:args":{}}}`:           `{"f:spec":{"f:args":{},"f:selector":{}}}`,
		`{"f:spec":{"f:args":{ } } }`:                        `{"f:spec":{"f:args":{}}}`,
		`{"f:spec":{"f:selector":{"f:app":{}}}}`:             `{"f:spec":{"f:selector":{}}}`,
		`{"f:spec":{"f:args":{"v:\"-a\"":{}},"f:quota":{}}}`: `{"f:spec":{"f:args":{},"f:quota":{}}}`,
	} {
		live := kindtest.New(t, `"spec":{"args":["-a"],"selector":{"app":"x"},"quota":{},"replicas":1}`)
		live.Entries = kindtest.Entries(t, `[`+
			`{"manager":"a","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:args":{}}}}]`)
		live.Entries = append(live.Entries, managedfields.Entry{
			Manager: "m", Operation: "Update", APIVersion: kindtest.Version, FieldsType: "FieldsV1", FieldsV1: managedfields.FieldsOf(text),
		}, live.Entries[0])
		live.Entries[2].Manager = "z"
		object := live
		object.Content = object.Content.With("spec", live.Content.Get("spec").With("replicas", kindtest.Parse(t, `2`)))
		out, err := kindtest.Manager(nil).Update(live, object, "u")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.Entries {
			if e.Manager == "m" && e.FieldsV1.String() != want {
				t.Errorf("%s is written as %s, want %s", text, e.FieldsV1, want)
			}
		}
	}
}
