package admission_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/value"
)

// TestObject compares an object whose managed fields are held apart with one that a plugin replaced. Both have the same document and parts,
// and both keep their managed fields when the content changes.
func TestObject(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:data":{"f:a":{}}},"manager":"m","operation":"Apply"}],"name":"c"}}`
	document, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	split, err := managedfields.ObjectOf(document)
	if err != nil {
		t.Fatal(err)
	}
	beside, within := admission.ObjectOf(split), admission.DocumentOf(document)
	for _, o := range []*admission.Object{&beside, &within} {
		fresh := *o // Document has not been called on this copy
		if whole, err := o.Document(); err != nil || !whole.Equal(document) || o.IsAbsent() {
			t.Errorf("the document is %v, %v", whole, err)
		}
		parts, err := fresh.Split()
		if err != nil || len(parts.Entries) != 1 || !parts.Content.Get("metadata", "managedFields").IsAbsent() || !parts.Content.Equal(split.Content) {
			t.Errorf("the parts are %v and %v, %v", parts.Content, parts.Entries, err)
		}
		if o.Content().Get("metadata", "name").Str() != "c" {
			t.Errorf("the content is %v", o.Content())
		}
		other := o.With(o.Content().With("data", value.Object(value.Member{Name: "a", Value: value.String("b")})))
		whole, err := other.Document()
		if err != nil || whole.Get("data", "a").Str() != "b" || whole.Get("metadata", "managedFields").Len() != 1 {
			t.Errorf("with other content the document is %v, %v", whole, err)
		}
	}
	if beside.Replaced() || !within.Replaced() {
		t.Error("an object that a plugin left is one that was stored, or the other way around")
	}
	var none admission.Object
	if whole, err := none.Document(); err != nil || !whole.IsAbsent() || !none.IsAbsent() {
		t.Errorf("the document of no object is %v, %v", whole, err)
	}
	malformed := document.Get("metadata").With("managedFields", value.String("none"))
	left := admission.DocumentOf(document.With("metadata", malformed))
	if parts, err := left.Split(); err == nil {
		t.Errorf("malformed managed fields are split into %v and %v", parts.Content, parts.Entries)
	}
}

// TestAnnotation checks that only the field Value shows an annotation that quotes a body.
func TestAnnotation(t *testing.T) {
	for _, c := range []struct {
		of   admission.Annotation
		want string
	}{
		{admission.Annotation{Key: "k", Value: "v"}, "k=v"},
		{admission.Annotation{Key: "k", Value: "secret", Body: true}, "k=(quotes the body of the request)"},
	} {
		value := c.want[2:]
		encoded, err := json.Marshal(c.of)
		if want, _ := json.Marshal(map[string]any{"Key": "k", "Value": value, "Body": c.of.Body}); err != nil || !sameJSON(encoded, want) {
			t.Errorf("it is encoded as %s, %v", encoded, err)
		}
		if c.of.String() != c.want || fmt.Sprintf("%+v", c.of) != c.want || c.of.LogValue().String() != c.want || c.of.Shown().Value != value {
			t.Errorf("it is shown as %s, %+v and %v, want %s", c.of.String(), c.of, c.of.LogValue(), c.want)
		}
	}
}

// sameJSON reports whether two texts are the same document.
func sameJSON(a, b []byte) bool {
	one, err := value.Parse(a)
	other, otherErr := value.Parse(b)
	return err == nil && otherErr == nil && one.Equal(other)
}
