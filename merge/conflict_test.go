package merge_test

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
)

// The message of conflicts is that of kube-apiserver: in one line when there is but one, else with a list for each owner.
func TestConflictsError(t *testing.T) {
	on := func(m merge.Manager, name string) merge.Conflict {
		return merge.Conflict{Owner: merge.Entry{Manager: m}, Path: fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field(name)}}
	}
	a := merge.Manager{Name: "a", Operation: merge.Apply}
	b := merge.Manager{Name: "b", Operation: merge.Update, APIVersion: "v1", Subresource: "status"}
	for _, c := range []struct {
		conflicts merge.Conflicts
		want      string
	}{
		{merge.Conflicts{on(a, "x")}, `Apply failed with 1 conflict: conflict with "a": .spec.x`},
		{merge.Conflicts{on(a, "x"), on(a, "y")}, "Apply failed with 2 conflicts: conflicts with \"a\":\n- .spec.x\n- .spec.y"},
		{
			merge.Conflicts{on(a, "x"), on(a, "y"), on(b, "x")},
			"Apply failed with 3 conflicts: conflicts with \"a\":\n- .spec.x\n- .spec.y\nconflicts with \"b\" with subresource \"status\" using v1:\n- .spec.x",
		},
	} {
		if got := c.conflicts.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
