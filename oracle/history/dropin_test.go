package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDropIn plays the histories on kube.FieldManager, which must answer them with the bytes of the reference.
func TestDropIn(t *testing.T) {
	for _, kind := range load(t) {
		for form, structs := range map[string]bool{"unstructured": false, "structs": true} {
			t.Run(kind.Name+"/"+form, func(t *testing.T) {
				want, got := play(t, kind, structs), playOn(t, kind, structs, true)
				if diff := cmp.Diff(exact(want), exact(got)); diff != "" {
					t.Errorf("(-reference +deed)\n%s", diff)
				}
			})
		}
	}
}

// exact returns records for comparison byte by byte.
func exact(records []Record) []string {
	var out []string
	for _, r := range records {
		request := r.Step + " by " + r.Manager + " (" + r.Verb + "): "
		out = append(out, request+"object "+string(r.Object), request+"entries "+string(r.Entries),
			request+"status "+string(r.Status), request+"error "+r.Error)
	}
	return out
}
