package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// TestPlans makes rounds, each twice. All forms of steps occur. The owners that a round starts with exist, and are where their dependents may
// own them.
func TestPlans(t *testing.T) {
	side := newSide(nil)
	text := func(s step) string { return pair.Text([]any{s.method, s.path, side.shown(s.body)}) }
	made := map[string]int{}
	for round := range 60 {
		p, again := newPlanner(1, round, 0), newPlanner(1, round, 0)
		starts, same := p.start(), again.start()
		for n, s := range starts {
			if text(s) != text(same[n]) {
				t.Fatalf("step %d of round %d is %s, and then %s", n, round, text(s), text(same[n]))
			}
			owners, _ := pair.Get(s.body, "metadata", "ownerReferences").([]any)
			for _, r := range owners {
				of := pair.Get(r, "uid").(uid).object
				if i := slices.Index(p.objects, of); i < 0 || i >= n {
					t.Errorf("step %d of round %d has an owner that does not exist: %s", n, round, text(s))
				}
				if o := p.objects[n]; of.namespaced && (!o.namespaced || of.namespace != o.namespace) {
					t.Errorf("step %d of round %d has an owner in another namespace: %s", n, round, text(s))
				}
			}
		}
		for n := range changes {
			s, same := p.change(), again.change()
			if text(s) != text(same) {
				t.Fatalf("change %d of round %d is %s, and then %s", n, round, text(s), text(same))
			}
			made[s.method]++
			policy, _ := pair.Get(s.body, "propagationPolicy").(string)
			made[policy]++
			for _, member := range []string{"ownerReferences", "finalizers"} {
				if pair.Get(s.body, "metadata", member) != nil {
					made[member]++
				}
			}
		}
	}
	for _, what := range []string{
		http.MethodDelete, http.MethodPatch, http.MethodPost, "Background", "Foreground", "Orphan", "ownerReferences", "finalizers",
	} {
		if made[what] < 20 {
			t.Errorf("%d changes have %s", made[what], what)
		}
	}
}
