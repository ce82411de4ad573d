package extras

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// upgrade migrates names one after the other. The reference would take them in random order.
func upgrade(entries []metav1.ManagedFieldsEntry, names []string, to, subresource string) ([]metav1.ManagedFieldsEntry, error) {
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: copyOf(entries)}}
	for _, name := range names {
		if err := csaupgrade.UpgradeManagedFields(object, sets.New(name), to, csaupgrade.Subresource(subresource)); err != nil {
			return nil, err
		}
	}
	return object.ManagedFields, nil
}

// copyOf returns a deep copy of entries, because the reference writes to their sets.
func copyOf(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	out := slices.Clone(entries)
	for i := range out {
		out[i] = *out[i].DeepCopy()
	}
	return out
}

func TestMigrate(t *testing.T) {
	changed := 0
	for seed := range seeds.Each(t, rounds) {
		r := seeds.Stream(seed, 0)
		entries := randomEntries(t, r, "apps/v1", "apps/v1", "apps/v2")
		names := [][]string{{"csa"}, {"a", "csa"}, {"ssa"}, {"a", "b", "csa", "ssa"}, nil}[r.IntN(5)]
		subresource := []string{"", "scale"}[r.IntN(2)]
		want, wantErr := upgrade(entries, names, "ssa", subresource)
		before := ours(t, copyOf(entries))
		got, gotErr := ownership.Migrate(managedfields.Object{Entries: before}, nil, names, "ssa", subresource)
		if errors.Is(gotErr, ownership.ErrNoManager) { // the reference goes on without a manager to migrate
			if wantErr != nil {
				continue
			}
			got, gotErr = before, nil
		}
		if (wantErr == nil) != (gotErr == nil) {
			t.Errorf("%v of %s: the reference fails with %v, deed with %v", names, describe(t, entries), wantErr, gotErr)
			continue
		}
		if diff := cmp.Diff(lines(t, ours(t, want)), lines(t, got)); diff != "" {
			t.Errorf("%v of %s (-reference +deed)\n%s", names, describe(t, entries), diff)
		}
		if diff := cmp.Diff(ours(t, entries), before); diff != "" {
			t.Errorf("the entries were changed\n%s", diff)
		}
		if gotErr == nil && len(got) != len(before) {
			changed++
		}
	}
	if changed < rounds/20 {
		t.Errorf("only %d of %d cases change anything", changed, rounds)
	}
}

func TestMigratePatch(t *testing.T) {
	patches := 0
	for seed := range seeds.Each(t, rounds) {
		r := seeds.Stream(seed, 0)
		entries := randomEntries(t, r, "apps/v1", "apps/v2")
		object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: copyOf(entries), ResourceVersion: []string{"", "7"}[r.IntN(2)]}}
		want, wantErr := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("csa"), "ssa")
		migrated, err := ownership.Migrate(managedfields.Object{Entries: ours(t, copyOf(entries))}, nil, []string{"csa"}, "ssa", "")
		if errors.Is(err, ownership.ErrNoManager) { // the reference goes on without a manager to migrate
			migrated, err = ours(t, entries), wantErr
		}
		if (wantErr == nil) != (err == nil) {
			t.Errorf("%s: the reference fails with %v, deed with %v", describe(t, entries), wantErr, err)
		}
		if err != nil {
			continue
		}
		got, _, err := ownership.EntriesPatch(objectOf(object.ResourceVersion, ours(t, entries)), migrated)
		if err != nil {
			t.Error(err)
			continue
		}
		if (want == nil) != (got == nil) || got != nil && !sameJSON(t, want, got) {
			t.Errorf("%s:\nreference %s\ndeed      %s", describe(t, entries), want, got)
		}
		if got != nil {
			patches++
		}
	}
	if patches < rounds/10 {
		t.Errorf("only %d of %d cases have a patch", patches, rounds)
	}
}

func objectOf(resourceVersion string, entries []managedfields.Entry) managedfields.Object {
	metadata := value.Object()
	if resourceVersion != "" {
		metadata = metadata.With("resourceVersion", value.String(resourceVersion))
	}
	return managedfields.Object{Content: value.Object(value.Member{Name: "metadata", Value: metadata}), Entries: entries}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

func TestFindOwners(t *testing.T) {
	annotation := []string{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}
	wanted := smd.NewSet(smd.MakePathOrDie(annotation[0], annotation[1], annotation[2]))
	path := fieldpath.Path{fieldpath.Field(annotation[0]), fieldpath.Field(annotation[1]), fieldpath.Field(annotation[2])}
	found := 0
	for seed := range seeds.Each(t, rounds) {
		entries := randomEntries(t, seeds.Stream(seed, 0), "apps/v1")
		want := csaupgrade.FindFieldsOwners(entries, metav1.ManagedFieldsOperationUpdate, wanted)
		got := owning.FindOwners(ours(t, entries), merge.Update, fieldpath.SetOf(path))
		if diff := cmp.Diff(lines(t, ours(t, want)), lines(t, got)); diff != "" {
			t.Errorf("%s (-reference +deed)\n%s", describe(t, entries), diff)
		}
		found += len(got)
	}
	if found < rounds/10 {
		t.Errorf("only %d owners", found)
	}
}

// TestReferenceAliases shows a difference: the reference writes to the sets of the object that it makes a patch for, and deed does not. The
// test fails once the reference does not either.
func TestReferenceAliases(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{
		{Manager: "ssa", Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:a":{}}`)},
		{Manager: "csa", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:b":{}}`)},
	}
	object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: entries}}
	if _, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New("csa"), "ssa"); err != nil {
		t.Fatal(err)
	}
	if got := object.ManagedFields[0].FieldsV1.GetRawString(); got == `{"f:a":{}}` {
		t.Error("the reference leaves the object as it is now")
	}
}

// TestReferenceRefusesEntriesWithoutFields shows a difference. An entry without fieldsV1 owns nothing in the field manager and in deed's
// migration; the reference's migration fails. The test fails once the reference accepts it.
func TestReferenceRefusesEntriesWithoutFields(t *testing.T) {
	entries := []metav1.ManagedFieldsEntry{{Manager: "csa", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1"}}
	if got, err := upgrade(entries, []string{"csa"}, "ssa", ""); err == nil {
		t.Errorf("the reference returns %s", describe(t, got))
	}
	got, err := ownership.Migrate(managedfields.Object{Entries: ours(t, entries)}, nil, []string{"csa"}, "ssa", "")
	if err != nil || len(got) != 1 || got[0].FieldsV1.String() != "{}" {
		t.Errorf("deed returns %v, %v", lines(t, got), err)
	}
}
