package difftest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
)

// TestDecisionsOfVersions checks decisions against the rest of a plan. They must report the same conflicts, and the owners before and after
// the apply. The histories have several versions with other field names and topologies.
func TestDecisionsOfVersions(t *testing.T) {
	y := decisionTally{}
	for seed := range seeds.Each(t, 1500) {
		c := gen.Seeded(seed)
		w, err := newWorld(gen.NewSchema(c))
		if err != nil {
			t.Fatal(err)
		}
		writer := gen.NewWriter(c, w.schema, w.types)
		deed, _ := w.start(writer.Filters())
		for i := range writes {
			write := writer.Next(deed.live, deed.version)
			deed.retired = write.Retired
			if write.Operation == merge.Apply {
				if d := y.check(deed, write); d != "" {
					t.Fatalf("seed %d, write %d by %v of %v in %s: %s\nlive %v in %s\nschema %v", seed, i, write.Manager, write.Object,
						write.Version, d, deed.live, deed.version, w.schema.Document.Value())
				}
			}
			deed.step(write)
		}
	}
	t.Logf("%+v", y)
	if y.conflicts < 500 || y.elsewhere < 100 || y.renamed < 10 {
		t.Errorf("the histories are not worth much: %+v", y)
	}
}

// decisionTally counts conflicts: all, those with owners of other versions, and those that are reported in other versions.
type decisionTally struct{ conflicts, elsewhere, renamed int }

// check returns the contradiction between the decisions of an apply and the rest of its plan, or "".
func (y *decisionTally) check(r *deedRun, w gen.Write) string {
	request, err := r.request(w)
	if err != nil {
		return ""
	}
	plan, err := r.engine.Apply(request)
	if err != nil {
		return ""
	}
	before, after := r.reconciled(request.Managers), plan.Force().Managers
	told := map[string]merge.Decision{} // by version and path
	for d := range plan.Decisions() {
		key := d.APIVersion + d.Path.Text()
		if _, ok := told[key]; ok {
			return fmt.Sprintf("two decisions on %v of %s", d.Path, d.APIVersion)
		}
		told[key] = d
		if got, want := d.Before, owners(before, d.Path); !slices.Equal(got, want) {
			return fmt.Sprintf("%v is decided to have the owners %v before, want %v", d.Path, got, want)
		}
		if got, want := d.After, owners(after, d.Path); !slices.Equal(got, want) {
			return fmt.Sprintf("%v is decided to have the owners %v after, want %v", d.Path, got, want)
		}
		if d.APIVersion != w.Version && d.Outcome != merge.Conflicting {
			return fmt.Sprintf("%v of %s is %v", d.Path, d.APIVersion, d.Outcome)
		}
	}
	return y.compare(plan.Conflicts(), told, w)
}

// compare returns the difference between conflicts and the decisions about conflicts.
func (y *decisionTally) compare(conflicts merge.Conflicts, told map[string]merge.Decision, w gen.Write) string {
	matched := map[string]bool{}
	for _, c := range conflicts {
		y.conflicts++
		if c.Owner.APIVersion != w.Version {
			y.elsewhere++
		}
		key := w.Version + c.Path.Text()
		if d := told[key]; d.Outcome != merge.Conflicting {
			key = c.Owner.APIVersion + c.Path.Text()
			y.renamed++
		}
		d := told[key]
		if d.Outcome != merge.Conflicting || !slices.Contains(d.Before, c.Owner.Manager) || slices.Contains(d.After, c.Owner.Manager) {
			return fmt.Sprintf("the conflict with %v at %v is decided as %+v", c.Owner.Manager, c.Path, d)
		}
		if d.APIVersion == c.Owner.APIVersion && !(d.Live.Equal(c.Live) && d.Result.Equal(c.Wanted)) {
			return fmt.Sprintf("the conflict at %v is of %v and %v, and decided of %v and %v", c.Path, c.Live, c.Wanted, d.Live, d.Result)
		}
		matched[key] = true
	}
	for key, d := range told {
		if d.Outcome == merge.Conflicting && !matched[key] {
			return fmt.Sprintf("there is no such conflict as decided: %+v", d)
		}
	}
	return ""
}

// reconciled returns ms without the owners of versions that are gone, with sets adapted to the schema.
func (r *deedRun) reconciled(ms merge.Managers) merge.Managers {
	var out []merge.Entry
	for e := range ms.All() {
		if r.exists(e.APIVersion) {
			e.Fields, _, _ = typed.Reconcile(e.Fields, r.types[e.APIVersion])
			out = append(out, e)
		}
	}
	return merge.ManagersOf(out...)
}

// owners returns the owners of path, each in its own version.
func owners(ms merge.Managers, path fieldpath.Path) []merge.Manager {
	var out []merge.Manager
	for e := range ms.All() {
		if e.Fields.Has(path) {
			out = append(out, e.Manager)
		}
	}
	slices.SortFunc(out, func(a, b merge.Manager) int { return merging.Compare(a, b) })
	return out
}
