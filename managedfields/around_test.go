package managedfields_test

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// TestKeepTimes keeps the times of entries exactly if nothing else differs.
func TestKeepTimes(t *testing.T) {
	const first, second = "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"
	entry := func(manager, time, fields string) string {
		return fmt.Sprintf(`{"manager":%q,"operation":"Apply","apiVersion":"v1","time":%q,"fieldsType":"FieldsV1","fieldsV1":{%s}}`, manager, time, fields)
	}
	object := func(data, entries string) managedfields.Object {
		o, err := managedfields.ParseObject([]byte(`{"apiVersion":"v1","kind":"X","metadata":{"managedFields":[` + entries + `]},"data":` + data + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	const data, a, b = `{"x":1}`, `"f:data":{"f:x":{}}`, `"f:data":{}`
	live := object(data, entry("a", first, a)+","+entry("b", first, b))
	for _, test := range []struct {
		name, data, entries string
		kept                bool
	}{
		{"the same", data, entry("a", first, a) + "," + entry("b", first, b), true},
		{"another time", data, entry("a", first, a) + "," + entry("b", second, b), true},
		{"another value", `{"x":2}`, entry("a", first, a) + "," + entry("b", second, b), false},
		{"an empty object", `{"x":1,"y":{}}`, entry("a", first, a) + "," + entry("b", second, b), false},
		{"other fields", data, entry("a", first, a) + "," + entry("b", second, a), false},
		{"another manager", data, entry("a", first, a) + "," + entry("c", second, b), false},
		{"another order", data, entry("b", first, b) + "," + entry("a", second, a), false},
		{"a further entry", data, entry("a", first, a) + "," + entry("b", first, b) + "," + entry("c", second, b), false},
		{"no entry", data, "", false},
	} {
		given := object(test.data, test.entries)
		want := given
		if test.kept {
			want = live
		}
		if got := managing.KeepTimes(given, live); string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
			t.Errorf("%s: got %s", test.name, got.AppendJSON(nil))
		}
	}
}

// TestUniqueOwners removes repeated owner references.
func TestUniqueOwners(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"ownerReferences":[{"uid":"1"},{"uid":"1"}]}}`:                         `{"metadata":{"ownerReferences":[{"uid":"1"}]}} [1]`,
		`{"metadata":{"ownerReferences":[{"uid":"1"},{"uid":"1","name":"a"}]}}`:              `{"metadata":{"ownerReferences":[{"uid":"1"},{"name":"a","uid":"1"}]}} []`,
		`{"metadata":{"ownerReferences":[{"uid":"1"},{"uid":"2"},{"uid":"2"},{"uid":"1"}]}}`: `{"metadata":{"ownerReferences":[{"uid":"1"},{"uid":"2"}]}} [2 1]`,
		`{"metadata":{"ownerReferences":[{"uid":"1"}]}}`:                                     `{"metadata":{"ownerReferences":[{"uid":"1"}]}} []`,
	} {
		v, err := value.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		object, uids := managing.UniqueOwners(v)
		if got := fmt.Sprint(object, " ", uids); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
