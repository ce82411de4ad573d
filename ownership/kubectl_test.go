package ownership_test

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// TestSaveRecord checks that a migration and the next apply lead to the same owners as kubectl's requests, if the record is saved before.
func TestSaveRecord(t *testing.T) {
	const record = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}}`
	const csa = `{"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}},"f:spec":{"f:replicas":{}}}`
	m := kindtest.Manager(nil)
	live := kindtest.New(t, `"spec":{"replicas":1}`)
	live.Content = live.Content.With("metadata", live.Content.Get("metadata").With("annotations", kindtest.Parse(t, `{"kubectl.kubernetes.io/last-applied-configuration":"{}"}`)))
	live.Entries = kindtest.Entries(t, `[`+entry("old", "Update", "v1", "1", csa)+","+entry("new", "Update", "v1", "2", csa)+`]`)
	config := kindtest.New(t, `"spec":{"replicas":1}`)

	sent, err := ownership.ApplyAsKubectl(m, live, config, "kubectl", false)
	if err != nil {
		t.Fatal(err)
	}
	want := sent[len(sent)-1].Object

	saved := live
	saved.Entries = owning.SaveRecord(live)
	last := saved.Entries[len(saved.Entries)-1]
	if last.Manager != "kubectl-last-applied" || last.Operation != merge.Apply || !last.Time.Equal(live.Entries[1].Time) || string(last.FieldsV1.Bytes()) != record {
		t.Errorf("the record is saved by %+v", last)
	}
	if saved.Entries, err = ownership.Migrate(saved, nil, ownership.ClientSideAppliers(saved.Entries), "kubectl", ""); err != nil {
		t.Fatal(err)
	}
	got, err := m.Apply(saved, config, "kubectl", false)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Content.Equal(want.Content) || !sameFields(got.Entries, want.Entries) {
		t.Errorf("got\n%s\nwant\n%s", got.AppendJSON(nil), want.AppendJSON(nil))
	}

	// There is nothing to save if an applier owns the record, if no updater does, and without a record.
	for name, o := range map[string]managedfields.Object{
		"saved":    {Content: live.Content, Entries: slices.Concat(live.Entries, []managedfields.Entry{last})},
		"no owner": {Content: live.Content},
		"none":     {Content: config.Content, Entries: live.Entries},
	} {
		if entries := owning.SaveRecord(o); len(entries) != len(o.Entries) {
			t.Errorf("%s: %d entries became %d", name, len(o.Entries), len(entries))
		}
	}
}

// sameFields reports whether the same managers own the same fields in both lists.
func sameFields(a, b []managedfields.Entry) bool {
	owns := func(in []managedfields.Entry) func(managedfields.Entry) bool {
		return func(e managedfields.Entry) bool {
			return slices.ContainsFunc(in, func(f managedfields.Entry) bool {
				return e.Manager == f.Manager && e.Operation == f.Operation && e.APIVersion == f.APIVersion && e.FieldsV1.Equal(f.FieldsV1)
			})
		}
	}
	return len(a) == len(b) && !slices.ContainsFunc(a, func(e managedfields.Entry) bool { return !owns(b)(e) })
}
