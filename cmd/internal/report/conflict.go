package report

import (
	"fmt"
	"strings"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// ConflictReport explains the conflicts of a run, one object at a time, and ends with advice.
type ConflictReport struct {
	Log     *notice.Log
	Manager string // the applier
	Paint   Painter
	Migrate func(from []string) string // returns the command line that gives the updates of from to the manager

	places []notice.Position // the positions of the fields in the configurations
	rivals dryrun.Rivals
}

// Add reports the conflicts of t: first the message of kube-apiserver, then each field with its owners and values.
func (r *ConflictReport) Add(t *dryrun.Task, conflicts merge.Conflicts) {
	config, view, contests := t.Given, t.Given.View(), dryrun.Contests(conflicts)
	r.Log.Raise(notice.ExitFinding)
	r.rivals.Add(t, r.Manager, contests)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", view.Error(conflicts))
	numbers := map[string]int{}
	for _, f := range contested(config, conflicts, contests) {
		r.places = append(r.places, f.at)
		fmt.Fprintf(&b, "  %v: %v: %s\n", f.at, config, r.Paint.Paint(strong, f.Path))
		for _, owner := range f.Owners {
			fmt.Fprintf(&b, "    owner:  %s\n", r.Paint.Paint(Yellow, once(owner, numbers)))
		}
		fmt.Fprintf(&b, "    live:   %s\n    wanted: %s\n", r.Paint.Paint(Red, f.Live), r.Paint.Paint(green, f.Wanted))
		for _, line := range f.Notes {
			fmt.Fprintf(&b, "            %s\n", line)
		}
	}
	fmt.Fprint(r.Log, b.String())
}

// Contested is a field in conflict, in words.
type Contested struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"` // of the field, or of the nearest one, in the configuration
	Column int      `json:"column"`
	Owners []string `json:"owners"`
	Live   string   `json:"live"`
	Wanted string   `json:"wanted"`
	Notes  []string `json:"notes,omitempty"` // the differences inside a list or object that is replaced as a whole

	at notice.Position
}

// ContestedFields returns the fields of conflicts, which an apply of config has, in the order of the conflicts.
func ContestedFields(config *manifest.Object, conflicts merge.Conflicts) []Contested {
	return contested(config, conflicts, dryrun.Contests(conflicts))
}

func contested(config *manifest.Object, conflicts merge.Conflicts, contests []*dryrun.Contest) []Contested {
	find, view := config.Find(), config.View()
	out := []Contested{}
	for _, f := range contests {
		c := Contested{Path: view.Path(f.Path), at: config.Key(find.Steps(f.Path)...)}
		c.Line, c.Column = c.at.Line, c.at.Column
		for _, owner := range f.Owners {
			c.Owners = append(c.Owners, showOwner(owner))
		}
		before, after := view.Pair(f.Path, f.Live, f.Wanted)
		c.Live, c.Wanted = secret.Texts(before, after)
		c.Notes = innerNotes(view.Last(f.Path), before, after)
		out = append(out, c)
	}
	return out
}

// maxOwner is the maximum length of an owner that is repeated for other fields.
const maxOwner = 100

// once returns owner, or its number in numbers if it is longer than maxOwner and was returned before. A long owner gets its number when it
// is returned first.
func once(owner string, numbers map[string]int) string {
	if len(owner) <= maxOwner {
		return owner
	}
	if n, known := numbers[owner]; known {
		return fmt.Sprintf("[%d]", n)
	}
	numbers[owner] = len(numbers) + 1
	return fmt.Sprintf("[%d] is %s", numbers[owner], owner)
}

// Advise prints the ways to resolve all conflicts of the run, once.
func (r *ConflictReport) Advise() {
	if len(r.places) == 0 {
		return
	}
	remove := "it from " + r.places[0].String()
	if len(r.places) > 1 {
		remove = fmt.Sprintf("it from the %d places above", len(r.places))
	}
	var b strings.Builder
	if r.rivals.SameName {
		fmt.Fprintf(&b, `
The owner %q with the operation Update is not you: it wrote with kubectl apply
without --server-side, kubectl edit or the like, and you write with Apply.
`, r.Manager)
	}
	if r.rivals.BeforeFirst {
		fmt.Fprintf(&b, `
The owner %q stands for everybody who wrote to the object before it
was applied to for the first time.
`, managedfields.BeforeFirstApply)
	}
	if len(r.rivals.From) > 0 {
		fmt.Fprintf(&b, `
An owner holds what kubectl has set without --server-side. To end its conflicts
for good, give that to %q. This shows what that comes to; with -o kubectl
it prints the commands that do it:
  %s
`, r.Manager, r.Migrate(r.rivals.From))
	}
	fmt.Fprintf(&b, `
What to do about a field in conflict:
  take it     run again with --force-conflicts, or --force-field PATH: its owners lose it to %q
  share it    set it to the live value: %q then owns it too
  give it up  remove %s: it stays as it is
`, r.Manager, r.Manager, remove)
	fmt.Fprint(r.Log, b.String())
}

// Forced reports the fields that the write of given took from other managers.
func Forced(c *types.Library, given *manifest.Object, lost merge.Conflicts) {
	each(c.Log, given, lost, func(f *dryrun.Contest, live, taken, owners string) string {
		switch {
		case f.Wanted.IsAbsent():
			return live + " is removed, and was owned by " + owners
		case f.Wanted.Equal(f.Live):
			return live + " stays, and is no longer owned by " + owners
		}
		return live + " becomes " + taken + ", taken from " + owners
	})
}

// Left reports the fields of given that the rules leave to their owners and that are not applied.
func Left(c *types.Library, given *manifest.Object, left merge.Conflicts) {
	each(c.Log, given, left, func(_ *dryrun.Contest, live, wanted, owners string) string {
		return live + " stays, left to " + owners + " by the rules, and does not become " + wanted
	})
}

// TakenOver reports the fields that kubectl takes from its own client-side apply without a conflict when it applies given.
func TakenOver(c *types.Library, given *manifest.Object, taken merge.Conflicts) {
	each(c.Log, given, taken, func(_ *dryrun.Contest, live, wanted, owners string) string {
		return live + " becomes " + wanted + ", taken over from " + owners + ": kubectl has no conflicts with its own client-side apply (S5)"
	})
}

// Migrated reports the further requests of kubectl for given, an object of client-side apply, or that they are left out.
func Migrated(c *types.Library, given *manifest.Object, x dryrun.Applied) {
	Unmigrated(c, given, x.Unmigrated)
	m := x.Migration
	switch {
	case m == nil:
		return
	case len(m.From) > 0:
		fmt.Fprintf(c.Log, "%v: %v: migrated from client-side apply, as kubectl does by itself: the fields of %s become %s's (requests: %s; "+
			"--no-migration leaves them)\n", given.At(), given, wording.QuotedList(m.From), m.To, strings.Join(m.Requests, ", "))
	case m.Saved:
		fmt.Fprintf(c.Log, "%v: %v: %s (requests: %s; --no-migration leaves it)\n", given.At(), given, recordSaved, strings.Join(m.Requests, ", "))
	}
	if reason := m.Reason(given.View()); reason != "" {
		c.Warn(given.At(), "%v: %s%s", given, migrationFailed, reason)
	}
	if m.Again == nil {
		return
	}
	for d := range m.Again.Decisions() {
		if d.Outcome == merge.Pruned {
			view := given.View()
			fmt.Fprintf(c.Log, "%v: %v: %s: %v is removed by the second apply: the configuration lacks it\n",
				given.At(), given, view.Path(d.Path), view.Value(d.Path, d.Live))
		}
	}
}

// recordSaved says what kubectl does with its record of client-side apply if it has nothing to migrate.
const recordSaved = `the record of client-side apply stays: "kubectl-last-applied" becomes its owner, as kubectl does by itself`

// Unmigrated reports that kubectl would migrate the fields of the managers in from, and deed does not: see [dryrun.KubectlAlone].
func Unmigrated(c *types.Library, given *manifest.Object, from []string) {
	if len(from) > 0 {
		fmt.Fprintf(c.Log, "%v: %v: not migrated: kubectl with this --field-manager would also migrate the fields of %s, as --migration does; "+
			"other programs would not\n", given.At(), given, wording.QuotedList(from))
	}
}

// each prints a line for each conflicting field of given: its place and the result of text.
func each(log *notice.Log, given *manifest.Object, conflicts merge.Conflicts, text func(f *dryrun.Contest, live, wanted, owners string) string) {
	find, view := given.Find(), given.View()
	for _, f := range dryrun.Contests(conflicts) {
		owners := make([]string, len(f.Owners))
		for i, owner := range f.Owners {
			owners[i] = showOwner(owner)
		}
		live, wanted := secret.Texts(view.Pair(f.Path, f.Live, f.Wanted))
		fmt.Fprintf(log, "%v: %v: %s: %s\n", given.Key(find.Steps(f.Path)...), given, view.Path(f.Path), text(f, live, wanted, strings.Join(owners, " and ")))
	}
}
