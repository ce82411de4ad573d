package managedfields_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// TestFormsAreTheSameObject reads objects from text, from a document and from maps, and prints each in all three forms.
func TestFormsAreTheSameObject(t *testing.T) {
	kindtest.Histories(t, func(t *testing.T, _ *rand.Rand, o managedfields.Object) {
		document, err := o.Value()
		if err != nil {
			t.Fatal(err)
		}
		content := document.ToAny().(map[string]any)
		fromText, err := managedfields.ParseObject(o.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		fromMaps, err := managedfields.ObjectFromAny(content)
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []managedfields.Object{o, fromText, fromMaps} {
			if got, err := from.Value(); err != nil || !got.Equal(document) {
				t.Errorf("document %v, want %v (%v)", got, document, err)
			}
			if got, err := value.Parse(from.AppendJSON(nil)); err != nil || !got.Equal(document) {
				t.Errorf("text %v, want %v (%v)", got, document, err)
			}
			if got, err := from.Value(); err != nil || !reflect.DeepEqual(got.ToAny(), document.ToAny()) {
				t.Errorf("maps %v, want %v (%v)", got, document, err)
			}
			if got, err := from.AsAny(); err != nil || !reflect.DeepEqual(got, document.ToAny()) {
				t.Errorf("shared maps %v, want %v (%v)", got, document, err)
			}
		}
	})
}

// TestUnstructuredInputsStay shows that writes modify none of the maps that they were given.
func TestUnstructuredInputsStay(t *testing.T) {
	m := kindtest.Manager(nil)
	live := kindtest.New(t, `"spec":{"replicas":1}`)
	live, err := m.Update(managedfields.Object{}, live, "creator")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := live.AsAny()
	if err != nil {
		t.Fatal(err)
	}
	sent, err := kindtest.New(t, `"spec":{"replicas":2}`).AsAny()
	if err != nil {
		t.Fatal(err)
	}
	before := jsonOf(t, []any{stored, sent})
	storedObject, err := managedfields.ObjectFromAny(stored)
	if err != nil {
		t.Fatal(err)
	}
	sentObject, err := managedfields.ObjectFromAny(sent)
	if err != nil {
		t.Fatal(err)
	}
	updated, err := m.Update(storedObject, sentObject, "editor")
	if err != nil {
		t.Fatal(err)
	}
	out, err := updated.AsAny()
	if err != nil {
		t.Fatal(err)
	}
	if reflect.ValueOf(out["spec"]).Pointer() != reflect.ValueOf(sent["spec"]).Pointer() {
		t.Error("the spec was copied")
	}
	out["metadata"].(map[string]any)["name"] = "other" // the maps of the object and its metadata are the caller's
	out["kind"] = "Other"
	if after := jsonOf(t, []any{stored, sent}); after != before {
		t.Errorf("inputs became %s, were %s", after, before)
	}
	updated.Content = updated.Content.With("kind", value.String("Third"))
	if out, err = updated.AsAny(); err != nil || out["kind"] != "Third" {
		t.Errorf("kind is %v, want that of the content (%v)", out["kind"], err)
	}
}

func TestObjectFromAnyErrors(t *testing.T) {
	for _, test := range []struct {
		managed any
		want    string
	}{
		{"x", "metadata.managedFields: expected a list, got string"},
		{[]any{1}, "metadata.managedFields[0]: expected an object, got int"},
		{[]any{map[string]any{"manager": 1}}, "metadata.managedFields[0]: manager: expected a string, got int"},
		{[]any{map[string]any{"manager": "a", "time": "now"}}, `metadata.managedFields[0], manager "a": time: ` +
			`parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"`},
	} {
		_, err := managedfields.ObjectFromAny(map[string]any{"metadata": map[string]any{"managedFields": test.managed}})
		if err == nil || err.Error() != test.want {
			t.Errorf("%v: got %v, want %s", test.managed, err, test.want)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFieldsAreEscaped shows that the text of an object escapes what encoding/json escapes, in fieldsV1 too, and keeps the order
// of sets.
func TestFieldsAreEscaped(t *testing.T) {
	const object = `{"metadata":{"managedFields":[{"fieldsV1":{"f:a%sb":{},"v:2":{},"v:10":{}}}]}}`
	for raw, escaped := range map[string]string{"<": `\u003c`, ">": `\u003e`, "&": `\u0026`, "\u2028": `\u2028`, "é": "é", "\u2027": "\u2027"} {
		o, err := managedfields.ParseObject([]byte(strings.Replace(object, "%s", raw, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(o.AppendJSON(nil)), strings.Replace(object, "%s", escaped, 1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestAsAnyWithoutMetadata demands that objects without metadata, or with other metadata than an object, are the same by AsAny and
// by way of Value, with entries and without.
func TestAsAnyWithoutMetadata(t *testing.T) {
	entries := []managedfields.Entry{{Manager: "m"}}
	for _, text := range []string{`{}`, `{"metadata":null}`, `{"metadata":{}}`, `{"metadata":1}`, `{"metadata":{"name":"one"},"spec":1}`} {
		for _, all := range [][]managedfields.Entry{nil, {}, entries} {
			o := managedfields.Object{Content: kindtest.Parse(t, text), Entries: all}
			v, wantErr := o.Value()
			want, _ := v.ToAny().(map[string]any)
			got, err := o.AsAny()
			if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s with %d entries: %v (%v), want %v (%v)", text, len(all), got, err, want, wantErr)
			}
		}
	}
}

// TestNoLiveObject applies to what an Unstructured has that nothing was read into: the object is created.
func TestNoLiveObject(t *testing.T) {
	m := kindtest.Manager(func(c *managedfields.Config) { c.Now = func() time.Time { return kindtest.NewYear } })
	config := kindtest.New(t, `"metadata":{"name":"a"},"spec":{"replicas":1}`)
	want, err := m.Apply(managedfields.Object{}, config, "ann", false)
	if err != nil {
		t.Fatal(err)
	}
	var d *managedfields.Decoder
	for _, content := range []map[string]any{nil, {}} {
		for _, read := range []func(map[string]any) (managedfields.Object, error){
			managedfields.ObjectFromAny, new(managedfields.Decoder).FromAny, d.FromAny,
		} {
			live, err := read(content)
			if err != nil || !live.Content.IsAbsent() || live.Entries != nil {
				t.Errorf("%#v is read as %v (%v)", content, live.Content, err)
			}
			if got, err := m.Apply(live, config, "ann", false); err != nil || string(got.AppendJSON(nil)) != string(want.AppendJSON(nil)) {
				t.Errorf("an apply to %#v gives %s (%v), want %s", content, got.AppendJSON(nil), err, want.AppendJSON(nil))
			}
		}
	}
	if got, err := m.Update(config, managedfields.Object{}, "ann"); err == nil {
		t.Errorf("an update to no object gives %s", got.AppendJSON(nil))
	}
}

// TestTextsOfObjects reads labels and finalizers as programs hold them, and metadata that is no map[string]any.
func TestTextsOfObjects(t *testing.T) {
	want := `{"apiVersion":"v1","kind":"Thing","metadata":{"finalizers":["f"],"labels":{"app":"web"},"name":"a"}}`
	for _, content := range []map[string]any{
		{"apiVersion": "v1", "kind": "Thing", "metadata": map[string]any{
			"name": "a", "labels": map[string]string{"app": "web"}, "finalizers": []string{"f"},
		}},
		{"apiVersion": "v1", "kind": "Thing", "metadata": value.Object(
			value.Member{Name: "name", Value: value.String("a")}, value.Member{Name: "finalizers", Value: value.List(value.String("f"))},
			value.Member{Name: "labels", Value: value.Object(value.Member{Name: "app", Value: value.String("web")})},
		)},
	} {
		o, err := managedfields.ObjectFromAny(content)
		if err != nil || string(o.AppendJSON(nil)) != want {
			t.Fatalf("%v is read as %s (%v)", content, o.AppendJSON(nil), err)
		}
		back, err := o.AsAny()
		if text, failed := json.Marshal(back); err != nil || failed != nil || string(text) != want {
			t.Errorf("it goes back to %s (%v, %v)", text, err, failed)
		}
	}
	named := map[string]any{"kind": "Thing", "metadata": map[string]string{"name": "a"}}
	o, err := managedfields.ObjectFromAny(named)
	if back, failed := o.AsAny(); err != nil || failed != nil || !reflect.DeepEqual(back["metadata"], map[string]any{"name": "a"}) {
		t.Errorf("metadata of strings goes back to %v (%v, %v)", back, err, failed)
	}
	owned := value.Object(value.Member{Name: "managedFields", Value: value.List(value.Object(value.Member{Name: "manager", Value: value.String("ann")}))})
	o, err = managedfields.ObjectFromAny(map[string]any{"kind": "Thing", "metadata": owned})
	if err != nil || len(o.Entries) != 1 || o.Entries[0].Manager != "ann" || o.Content.String() != `{"kind":"Thing","metadata":{}}` {
		t.Errorf("got %v with the entries %v (%v)", o.Content, o.Entries, err)
	}
}

// TestCreatedMapsAreShared demands that an object that an apply creates shares its maps with the configuration, and says what it says
// without any.
func TestCreatedMapsAreShared(t *testing.T) {
	spec := map[string]any{"replicas": int64(1)}
	config := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "one"}, "spec": spec,
	}
	object, err := managedfields.ObjectFromAny(config)
	if err != nil {
		t.Fatal(err)
	}
	created, err := kindtest.Manager(nil).Apply(managedfields.Object{}, object, "m", false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := created.AsAny()
	if err != nil {
		t.Fatal(err)
	}
	if reflect.ValueOf(got["spec"]).Pointer() != reflect.ValueOf(spec).Pointer() {
		t.Error("spec is a new map")
	}
	whole, err := created.Value()
	if err != nil {
		t.Fatal(err)
	}
	if want := whole.ToAny(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
