package difftest

import (
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/deed-project/deed/typed"
)

// TestUnknownScalar checks the message about a scalar type with an unknown name.
func TestUnknownScalar(t *testing.T) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"a","type":{"scalar":"weird"}}]}}]}`)
	v := parsed(`{"a":"x"}`)
	_, err := typed.New(v, root)
	_, want := smd.FromUnstructured(v.ToAny())
	if err == nil || want == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestMergeOfRepeatedItemsInAtomics merges a configuration with a repeated item in an atomic part, which no engine looks into.
func TestMergeOfRepeatedItemsInAtomics(t *testing.T) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"m","type":{"map":{"elementRelationship":"atomic","fields":[
		{"name":"s","type":{"list":{"elementRelationship":"associative","elementType":{"scalar":"string"}}}}]}}}]}}]}`)
	live, config := parsed(`{"m":{"s":["a"]}}`), parsed(`{"m":{"s":["b","b"]}}`)
	got, err := typed.Merge(accepted(t, live, root), accepted(t, config, root))
	want, wantErr := smdAccepted(t, live, smd).Merge(smdAccepted(t, config, smd))
	if err != nil || wantErr != nil || !got.Content().Equal(contentOf(want)) {
		t.Errorf("%v, %v, want %v, %v", got.Content(), err, contentOf(want), wantErr)
	}
	if _, err := typing.Revise(got, parsed(`{"m":{"s":["b","b"]}}`)); err == nil {
		t.Error("what was merged is taken for a value without repeated items")
	}
}

// TestRemoveOpenLists removes items without identity, from a list whose relationship is undefined. They are removed and kept together.
func TestRemoveOpenLists(t *testing.T) {
	root, smd := both(t, `{"types":[{"name":"root","map":{"fields":[{"name":"l","type":{"list":{"elementType":{"scalar":"string"}}}}]}}]}`)
	v := parsed(`{"l":["a","b"]}`)
	deed, reference := accepted(t, v, root), smdAccepted(t, v, smd)
	own, want := deed.Fields(), smdFieldsOf(reference)
	if got, want := deed.Remove(own).Content(), contentOf(reference.RemoveItems(want)); !got.Equal(want) || !got.Get("l").IsNull() {
		t.Errorf("removed: %v, want %v", got, want)
	}
	if got, want := deed.Extract(own).Content(), contentOf(reference.ExtractItems(want)); !got.Equal(want) || got.Get("l").Len() != 2 {
		t.Errorf("extracted: %v, want %v", got, want)
	}
	if !want.Equals(smdpath.NewSet(smdpath.Path{smdpath.PathElement{FieldName: name("l")}, smdpath.PathElement{}})) {
		t.Errorf("the reference has the fields %v", want)
	}
}

func name(s string) *string { return &s }
