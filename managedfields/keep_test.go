package managedfields

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
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

// An object goes back to the maps that it came from as far as it is the same, and to new ones where it became another, of whatever
// kind.
func TestAsAnySharesMaps(t *testing.T) {
	content := map[string]any{"kind": "X", "spec": map[string]any{
		"same": map[string]any{"a": "1"}, "other": map[string]any{"b": "2", "in": map[string]any{"c": "3"}},
		"list": []any{map[string]any{"d": "4"}, "5"}, "gone": []any{"6"},
	}}
	was, err := ObjectFromAny(content)
	if err != nil {
		t.Fatal(err)
	}
	spec := was.Content.Get("spec")
	for name, member := range map[string]value.Value{
		"other": spec.Get("other").With("b", value.Int(7)),
		"list":  value.List(spec.Get("list").Item(0), value.Int(8), value.Int(9)),
		"gone":  value.Object(value.Member{Name: "e", Value: value.Null()}),
	} {
		for _, changed := range []value.Value{member, value.String("text"), value.List(), value.Object(), {}} {
			o := was
			o.Content = was.Content.With("spec", spec.With(name, changed))
			got, err := o.AsAny()
			if err != nil || !reflect.DeepEqual(got, o.Content.ToAny()) {
				t.Fatalf("%v is held as %v (error %v)", o.Content, got, err)
			}
			before, after := content["spec"].(map[string]any), got["spec"].(map[string]any)
			if !sameMap(after["same"], before["same"]) {
				t.Errorf("with another %s, what is the same is a new map", name)
			}
			if in, ok := after["other"].(map[string]any); ok && name == "other" && in["in"] != nil && !sameMap(in["in"], before["other"].(map[string]any)["in"]) {
				t.Error("what is the same in what is not is a new map")
			}
			if list, ok := after["list"].([]any); ok && name == "list" && len(list) > 0 && !sameMap(list[0], before["list"].([]any)[0]) {
				t.Error("what is the same in a list that is not is a new map")
			}
		}
	}
}

// sameMap reports whether a and b are one map.
func sameMap(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }

// textOf returns where the text of the fields of e lies, and nil if they are no text.
func textOf(e Entry) *byte {
	text, _ := e.FieldsV1.held.(string)
	return unsafe.StringData(text)
}
