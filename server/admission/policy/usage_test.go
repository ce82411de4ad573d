package policy

import (
	"testing"

	"github.com/deed-project/deed/value"
)

// TestReads checks which parts of an object and of its predecessor an expression gets.
func TestReads(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"K","metadata":{"labels":{"a":"b"},"name":"n"},"spec":{"list":[{"x":1}],"n":2,"type":"t"}}`
	v, err := value.Parse([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ expression, object, old string }{
		{"true", `{}`, `{}`},
		{"object.spec.n <= 5", `{"spec":{"n":2}}`, `{}`},
		{"object.spec.n <= 5 && oldObject.spec.type == 't'", `{"spec":{"n":2}}`, `{"spec":{"type":"t"}}`},
		{"has(object.spec.missing)", `{"spec":{}}`, `{}`},
		{"has(object.spec) && object.spec.n == 2", `{"spec":{"list":[{"x":1}],"n":2,"type":"t"}}`, `{}`},
		{"object.spec.list.all(x, x.x == 1)", `{"spec":{"list":[{"x":1}]}}`, `{}`},
		{"object.spec.list.all (x, x.x == 1)", `{"spec":{"list":[{"x":1}]}}`, `{}`},
		{"object.spec.list[0].x == 1", `{"spec":{"list":[{"x":1}]}}`, `{}`},
		{"object.metadata.labels.size() == 1 && object.kind=='K'", `{"kind":"K","metadata":{"labels":{"a":"b"}}}`, `{}`},
		{"object.spec.?n.orValue(1) == 2", `{"spec":{"list":[{"x":1}],"n":2,"type":"t"}}`, `{}`},
		{"object.spec.x__dash__y == 2", `{"spec":{"list":[{"x":1}],"n":2,"type":"t"}}`, `{}`},
		{"object.metadata .name == 'n'", `{"metadata":{"labels":{"a":"b"},"name":"n"}}`, `{}`},
		{"object.metadata.name.n == 'n'", `{"metadata":{"name":"n"}}`, `{}`},
		{"object", object, `{}`},
		{"object == oldObject", object, object},
		{"object['spec'].n == 2", object, `{}`},
		{"object.spec.list.all // each\n(x, true)", object, `{}`},
		{"objects.spec.n + namespaceObject.x + variables.myobject + my_object", `{}`, `{}`},
	} {
		var r usage
		r.note(test.expression)
		if got := r.object.in(v).String(); got != test.object {
			t.Errorf("%s: the object is shown as\n%s, want\n%s", test.expression, got, test.object)
		}
		if got := r.old.in(v).String(); got != test.old {
			t.Errorf("%s: the old object is shown as\n%s, want\n%s", test.expression, got, test.old)
		}
	}
}

// TestCovers checks when a policy needs parts that an earlier one did not.
func TestCovers(t *testing.T) {
	of := func(text string) *fields {
		var r usage
		r.note(text)
		return &r.object
	}
	for _, test := range []struct {
		has, wants string
		covers     bool
	}{
		{"", "", true}, {"object", "object.spec", true}, {"object.spec", "object", false}, {"object.spec", "object.spec.n", true},
		{"object.spec.n", "object.spec", false}, {"object.spec.n", "object.spec.n + object.metadata.name", false},
		{"object.spec.n + object.metadata", "object.spec.n + object.metadata.name", true}, {"", "object.spec", false}, {"object.spec", "", true},
	} {
		if got := of(test.has).covers(of(test.wants)); got != test.covers {
			t.Errorf("%q covers %q: %v", test.has, test.wants, got)
		}
	}
}
