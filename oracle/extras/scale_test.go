package extras

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	reference "k8s.io/apimachinery/pkg/util/managedfields"
	smd "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
)

// Versions of the kind: replicas are at different paths, one version has no scale, and apps/v9 is unknown.
var (
	replicas = map[string]fieldpath.Path{
		"apps/v1": {fieldpath.Field("spec"), fieldpath.Field("replicas")},
		"apps/v2": {fieldpath.Field("spec"), fieldpath.Field("size")},
		"apps/v0": nil,
	}
	referenceReplicas = reference.ResourcePathMappings{
		"apps/v1": smd.MakePathOrDie("spec", "replicas"), "apps/v2": smd.MakePathOrDie("spec", "size"), "apps/v0": nil,
	}
	kindVersions = []string{"apps/v1", "apps/v1", "apps/v2", "apps/v0", "apps/v9"}
)

func TestScale(t *testing.T) {
	compared := 0
	for seed := range seeds.Each(t, rounds) {
		r := seeds.Stream(seed, 0)
		parent := randomEntries(t, r, kindVersions...)
		if len(parent) > 0 && r.IntN(20) == 0 {
			parent[0].FieldsV1 = nil
		}
		version := schema.GroupVersion{Group: "apps", Version: []string{"v1", "v2", "v0", "v9"}[r.IntN(4)]}
		want := reference.NewScaleHandler(parent, version, referenceReplicas)

		wantScale, wantErr := want.ToSubresource()
		gotScale, gotErr := managedfields.ScaleEntries(ours(t, parent), replicas)
		if !agree(t, "ScaleEntries", parent, wantScale, wantErr, gotScale, gotErr) {
			continue
		}
		scale := randomEntries(t, r, "autoscaling/v1", "apps/v1")
		if r.IntN(2) == 0 { // entries of the parent, some removed and some added
			scale = append(scale, wantScale[:r.IntN(len(wantScale)+1)]...)
		}
		wantParent, wantErr := want.ToParent(scale)
		gotParent, gotErr := managedfields.EntriesAfterScale(ours(t, parent), ours(t, scale), version.String(), replicas)
		if agree(t, "EntriesAfterScale of "+describe(t, scale), parent, wantParent, wantErr, gotParent, gotErr) && len(wantParent) > 0 {
			compared++
		}
	}
	if compared < rounds/3 {
		t.Errorf("only %d of %d cases have an outcome", compared, rounds)
	}
}

// agree compares two outcomes. It reports whether both succeeded.
func agree(
	t *testing.T, what string, parent, want []metav1.ManagedFieldsEntry, wantErr error, got []managedfields.Entry, gotErr error,
) bool {
	t.Helper()
	if (wantErr == nil) != (gotErr == nil) {
		t.Errorf("%s, parent %s: the reference fails with %v, deed with %v", what, describe(t, parent), wantErr, gotErr)
		return false
	}
	if diff := cmp.Diff(sortTies(lines(t, ours(t, want))), sortTies(lines(t, got))); diff != "" {
		t.Errorf("%s, parent %s (-reference +deed)\n%s", what, describe(t, parent), diff)
	}
	return wantErr == nil
}
