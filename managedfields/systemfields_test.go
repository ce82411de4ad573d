package managedfields_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
)

// TestUpdatersOwnNoSystemFields demands rule S7 of updates: who changes bookkeeping does not come to own it and gets no new time,
// and loses what an edited entry says that it owned of it.
func TestUpdatersOwnNoSystemFields(t *testing.T) {
	const entries = `[{"manager":"u","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:07:00Z",
		"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}},"f:resourceVersion":{}},"f:spec":{"f:replicas":{}}}}]`
	for _, test := range []struct{ name, metadata, spec, want string }{
		{"nothing changes", `"labels":{"a":"1"},"resourceVersion":"1"`, `"replicas":1`,
			"u Update v1 7: .metadata.resourceVersion .metadata.labels.a .spec.replicas\n"},
		{"bookkeeping changes", `"labels":{"a":"1"},"resourceVersion":"2"`, `"replicas":1`,
			"u Update v1 7: .metadata.labels.a .spec.replicas\n"},
		{"both change", `"labels":{"a":"2"},"resourceVersion":"2"`, `"replicas":2`,
			"u Update v1 1: .metadata.labels.a .spec.replicas\n"},
		{"bookkeeping comes", `"labels":{"a":"1"},"resourceVersion":"1","uid":"x"`, `"replicas":1`,
			"u Update v1 7: .metadata.resourceVersion .metadata.labels.a .spec.replicas\n"},
		{"the rest goes", `"resourceVersion":"2"`, ``, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			live := kindtest.New(t, `"metadata":{"name":"one","labels":{"a":"1"},"resourceVersion":"1"},"spec":{"replicas":1}`)
			live.Entries = kindtest.Entries(t, entries)
			object := kindtest.New(t, `"metadata":{"name":"one",`+test.metadata+`},"spec":{`+test.spec+`}`)
			out, err := kindtest.Manager(nil).Update(live, object, "u")
			if err != nil {
				t.Fatal(err)
			}
			if got := kindtest.Show(t, out.Entries); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestSystemFieldsAreNotApplied demands rule S7 of applies, by each of the fields.
func TestSystemFieldsAreNotApplied(t *testing.T) {
	m := kindtest.Manager(nil)
	out, err := m.Apply(managedfields.Object{}, kindtest.New(t,
		`"metadata":{"name":"one","namespace":"n","resourceVersion":"1","uid":"u","labels":{"a":"1"}}`), "a", false)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kindtest.Show(t, out.Entries), "a Apply v1 1: .metadata.labels.a\n"; got != want {
		t.Errorf("got %s", got)
	}
	for _, path := range []string{
		".apiVersion", ".kind", ".metadata", ".metadata.name", ".metadata.namespace", ".metadata.creationTimestamp",
		".metadata.selfLink", ".metadata.uid", ".metadata.clusterName", ".metadata.generation", ".metadata.managedFields",
		".metadata.resourceVersion",
	} {
		if !managing.SystemFields().Has(kindtest.Path(t, path)) {
			t.Errorf("%s is somebody's", path)
		}
	}
	if n := managing.SystemFields().Len(); n != 12 {
		t.Errorf("%d fields are nobody's", n)
	}
}
