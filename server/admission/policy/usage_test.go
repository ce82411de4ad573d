package policy

import "testing"

// TestUsage checks which parts of a request an expression uses, by its text.
func TestUsage(t *testing.T) {
	for _, test := range []struct {
		expression string
		want       usage
	}{
		{"true", usage{}},
		{"object.spec.n <= 5", usage{object: true}},
		{"object.spec.n <= 5 && oldObject.spec.type == 't'", usage{object: true, old: true}},
		{"has(object.metadata)", usage{object: true, entries: true}},
		{"object.metadata.labels.size() == 1 && object.kind=='K'", usage{object: true}},
		{"object.metadata .name == 'n'", usage{object: true, entries: true}},
		{"object.metadata.managedFields.size() == 1", usage{object: true, entries: true}},
		{"object.metadata.?managedFields.hasValue()", usage{object: true, entries: true}},
		{"object.metadata['name'] == 'n'", usage{object: true, entries: true}},
		{"object.metadata.size () == 1", usage{object: true, entries: true}},
		{"object.spec.x__dash__y == 2", usage{object: true}},
		{"object == oldObject", usage{object: true, old: true, entries: true}},
		{"object['spec'].n == 2", usage{object: true, entries: true}},
		{"object.spec.list.all // each\n(x, true)", usage{object: true, entries: true}},
		{"objects.spec.n + variables.myobject + my_object", usage{object: true}},
		{"namespaceObject.metadata.name == request.name", usage{namespace: true, request: true}},
		{"authorizer.requestResource.check('get').allowed()", usage{request: true, authorizer: true}},
	} {
		var got usage
		if got.note(test.expression); got != test.want {
			t.Errorf("%s uses %+v, want %+v", test.expression, got, test.want)
		}
	}
}
