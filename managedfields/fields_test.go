package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
)

// TestFieldsForms demands that a fieldsV1 is the same in every form in which it may come.
func TestFieldsForms(t *testing.T) {
	const text = `{"f:spec":{"f:args":{},"f:containers":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}}`
	set, err := fieldpath.ParseSet([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	bytes := []byte(text)
	forms := map[string]managedfields.Fields{
		"text":     managedfields.FieldsOf(text),
		"bytes":    managedfields.FieldsOf(bytes),
		"document": managedfields.FieldsOf(kindtest.Parse(t, text)),
		"set":      managedfields.FieldsOf(set),
	}
	for name, f := range forms {
		for range 2 { // read, and remembered
			if got, err := f.Set(); err != nil || !got.Equal(set) {
				t.Errorf("%s: the set is %s, error %v", name, paths.JSON(got), err)
			}
		}
		if v, err := managing.Document(f); err != nil || !v.Equal(kindtest.Parse(t, text)) {
			t.Errorf("%s: the document is %v, error %v", name, v, err)
		}
		if f.String() != text || string(f.Bytes()) != text {
			t.Errorf("%s: printed as %s and %s", name, f, f.Bytes())
		}
		for other, g := range forms {
			if !f.Equal(g) {
				t.Errorf("%s and %s differ", name, other)
			}
		}
		if f.Bytes() == nil || f.Equal(managedfields.Fields{}) || f.Equal(managedfields.FieldsOf(`{"f:spec":{}}`)) {
			t.Errorf("%s equals what it is not", name)
		}
	}
	if shared := forms["bytes"].Bytes(); &shared[0] != &bytes[0] {
		t.Error("bytes are copied")
	}
	if !(managedfields.Fields{}).Equal(managedfields.FieldsOf(kindtest.Parse(t, `null`))) {
		t.Error("null is not absent")
	}
	if bad := managedfields.FieldsOf(`{"x":1}`); !bad.Equal(managedfields.FieldsOf([]byte(`{"x":1}`))) || bad.Equal(forms["text"]) {
		t.Error("what is no set equals by its text")
	}
}

// TestFieldsPrinted demands that what is not canonical is printed as it came, and that an object's text escapes in fieldsV1 what it
// escapes everywhere.
func TestFieldsPrinted(t *testing.T) {
	const loose = `{"f:spec":{"f:args":{},"q:later":1}}`
	if got := managedfields.FieldsOf(kindtest.Parse(t, loose)).String(); got != loose {
		t.Errorf("a document is printed as %s", got)
	}
	for raw, escaped := range map[string]string{
		"a": "a", "<": `\u003c`, ">": `\u003e`, "&": `\u0026`, "\u2028": `\u2028`, "\u2029": `\u2029`, "<>&\u2028": `\u003c\u003e\u0026\u2028`, "é": "é",
	} {
		o := managedfields.Object{Content: kindtest.Parse(t, `{}`), Entries: []managedfields.Entry{
			{Manager: "m", FieldsV1: managedfields.FieldsOf(`{"f:` + raw + `":{}}`)},
		}}
		if got, want := string(o.AppendJSON(nil)), `{"metadata":{"managedFields":[{"fieldsV1":{"f:`+escaped+`":{}},"manager":"m"}]}}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
