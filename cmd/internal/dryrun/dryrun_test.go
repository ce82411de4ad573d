package dryrun_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

// TestStories runs the stories of testdata, see [storytest.Run]. Their commands print everything that happens to each object:
//
//	apply FILE as=MANAGER WORD...     see [storytest.Story.Apply]; all= also shows kept and shared fields
//	update FILE as=MANAGER [lenient=]
//	migrate from=NAME,... to=NAME [config=FILE] [through=SUBRESOURCE] [patch=]
//	transfer from=NAME to=NAME [config=FILE]
//
// A refused write stores nothing.
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"apply": apply, "update": update, "migrate": migrate, "transfer": transfer})
}

func apply(s *storytest.Story) {
	c := s.Library()
	how := s.Apply(c)
	if how == nil {
		return
	}
	w := s.Workload(c)
	dryrun.Each(w, "applying", true, how.One, func(t *dryrun.Task, x dryrun.Applied) {
		if x.Err != nil {
			dryrun.Refused(c, t, dryrun.ApplyRole, x.Err)
			return
		}
		s.Print("%v", t.Given)
		printConflicts(s, t, x)
		printFields(s, t, x)
		printMigration(s, t, x)
		printRest(s, t, x)
		if len(x.Refused) > 0 {
			return
		}
		s.Object(t.Before(), x.Outcome)
		s.Store(x.Outcome)
	})
	if err := how.Force.Unused(w.Managers()); err != nil {
		s.Print("error: %v", err)
	}
}

func printConflicts(s *storytest.Story, t *dryrun.Task, x dryrun.Applied) {
	for _, group := range []struct {
		name      string
		conflicts merge.Conflicts
	}{{"refused", x.Refused}, {"taken", x.Taken}, {"left", x.Left}, {"taken over", x.TakenOver}} {
		for _, c := range dryrun.Contests(group.conflicts) {
			var owners []merge.Manager
			for _, e := range c.Owners {
				owners = append(owners, e.Manager)
			}
			s.Print("  %s %s: %s, wanted %s, of %s", group.name, c.Path.Text(), storytest.Show(c.Live), storytest.Show(c.Wanted), storytest.Names(owners))
		}
	}
	var r dryrun.Rivals
	if r.Add(t, s.Word("as"), dryrun.Contests(x.Refused)); r.SameName || r.BeforeFirst || len(r.From) > 0 {
		s.Print("  rivals: same name %t, before first %t, client side %t %q", r.SameName, r.BeforeFirst, len(r.From) > 0, r.From)
	}
}

func printFields(s *storytest.Story, t *dryrun.Task, x dryrun.Applied) {
	decisions, err := t.Settle(x, slices.Collect(x.Plan.Decisions()))
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range decisions {
		if s.Has("all") || d.Outcome != merge.Kept && d.Outcome != merge.Shared {
			s.Print("  %v %s: %s -> %s by %s, %s -> %s", d.Outcome, d.Path.Text(), storytest.Show(d.Live), storytest.Show(d.Result),
				d.Rule, storytest.Names(d.Before), storytest.Names(d.After))
		}
	}
	adjustments, err := t.Adjustments(x)
	if err != nil {
		s.Fatal(err)
	}
	for _, a := range adjustments {
		s.Print("  %s %s: %s -> %s", a.How, a.Path.Text(), storytest.Show(a.Merged), storytest.Show(a.Stored))
	}
}

func printMigration(s *storytest.Story, t *dryrun.Task, x dryrun.Applied) {
	if len(x.Unmigrated) > 0 {
		s.Print("  kubectl would migrate from %q", x.Unmigrated)
	}
	m := x.Migration
	if m == nil {
		return
	}
	s.Print("  kubectl migrates from %q: %s; failed: %s", m.From, strings.Join(m.Requests, ", "), m.Reason(t.Given.View()))
	if m.Again == nil {
		return
	}
	for d := range m.Again.Decisions() {
		if d.Outcome != merge.Kept {
			s.Print("    again: %v %s: %s -> %s", d.Outcome, d.Path.Text(), storytest.Show(d.Live), storytest.Show(d.Result))
		}
	}
}

func printRest(s *storytest.Story, t *dryrun.Task, x dryrun.Applied) {
	if x.Unmade != nil {
		s.Print("  even by force: %v", x.Unmade)
	}
	change := t.Change(x)
	s.Print("  changes: object %t, owners %t, notation only %t", change.Object, change.Ownership, change.NotationOnly)
	for _, n := range change.Notations {
		s.Print("  notation %s: %s of %s -> %s", n.Path.Text(), n.Kind, storytest.Show(n.Live), storytest.Show(n.Wanted))
	}
	for _, a := range t.Allocated(x.Outcome) {
		s.Print("  allocated: %q", a.Paths)
	}
	printFindings(s, t, x.Findings)
	if t.Scales() {
		s.Print("  scale: %v", t.Written(x).Content)
	}
}

func printFindings(s *storytest.Story, t *dryrun.Task, all []types.Finding) {
	for _, f := range all {
		s.Print("  finding: %s", f.Text(t.Given.View()))
	}
}

func update(s *storytest.Story) {
	c := s.Library()
	how := dryrun.Update{Manager: s.Word("as"), Lenient: s.Has("lenient")}
	dryrun.Each(s.Workload(c), "updating", false, how.One, func(t *dryrun.Task, x dryrun.Updated) {
		if x.Err != nil {
			dryrun.Refused(c, t, dryrun.UpdateRole, x.Err)
			return
		}
		s.Print("%v", t.Given)
		for _, c := range x.Lost {
			s.Print("  lost %s: %s -> %s, of %v", c.Path.Text(), storytest.Show(c.Live), storytest.Show(c.Wanted), c.Owner.Manager)
		}
		if x.Forgot != nil || x.Kept != nil {
			s.Print("  forgot: %v; kept: %v", x.Forgot, x.Kept)
		}
		printFindings(s, t, x.Findings)
		s.Object(t.Before(), x.Outcome)
		s.Store(x.Outcome)
	})
}

func migrate(s *storytest.Story) {
	handOver(s, func(h *dryrun.Handover, e *types.Endpoint) error {
		return h.Migrate(e, s.Words["from"], s.Word("to"), s.Word("through"))
	})
}

func transfer(s *storytest.Story) {
	handOver(s, func(h *dryrun.Handover, e *types.Endpoint) (err error) {
		from, to := merge.Manager{Name: s.Word("from"), Operation: merge.Apply}, merge.Manager{Name: s.Word("to"), Operation: merge.Apply}
		if h.After.Entries, err = ownership.Transfer(h.Live.Object, dryrun.VersionsOf(e), from, to); err != nil {
			return err
		}
		return h.Apply(e, to.Name)
	})
}

// handOver calls hand for each stored object.
func handOver(s *storytest.Story, hand func(*dryrun.Handover, *types.Endpoint) error) {
	c := s.Library()
	all, live, configs := s.Types(c), s.Live(c), manifest.NewLive(nil)
	if s.Has("config") {
		configs = c.Index(c.Read(s.Words["config"], false), manifest.Everything)
	}
	targets := dryrun.Targets(c, live, configs, "")
	for stored := range live.All() {
		o := stored.Read(c.Loader)
		e, ok := c.TypeOf(o, all, s.Config())
		if !ok {
			continue
		}
		given, ok := targets.Of(o)
		if !ok {
			continue
		}
		h := &dryrun.Handover{Live: o, After: o.Object, Config: given}
		if err := hand(h, e); err != nil {
			s.Print("%v: %v", o, err)
			continue
		}
		s.Print("%v", o)
		printHandover(s, h)
	}
}

func printHandover(s *storytest.Story, h *dryrun.Handover) {
	changes := h.Changes()
	for _, g := range changes {
		for path := range g.Paths.All() {
			s.Print("  %s -> %s: %s", storytest.Names(g.Before), storytest.Names(g.After), path.Text())
		}
	}
	for _, l := range h.Removed {
		s.Print("  removed %s: %s -> %s", l.Path.Text(), storytest.Show(l.Value), storytest.Show(l.Default))
	}
	for _, l := range h.Kept {
		s.Print("  kept %s: %s, of %s", l.Path.Text(), storytest.Show(l.Value), storytest.Names(l.Owners))
	}
	for _, c := range h.Conflicts {
		s.Print("  conflict %s with %v", c.Path.Text(), c.Owner.Manager)
	}
	var all []string
	for path := range h.Paths(changes) {
		all = append(all, path.Text())
	}
	s.Print("  about: %s", strings.Join(all, " "))
	patch, guarded, err := h.Patch()
	s.Print("  patch: guarded %t, error %v", guarded, err)
	if s.Has("patch") {
		s.Print("    %s", patch)
	}
	s.Object(h.Live.Object, h.After)
}

func TestCheckManager(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"kubectl", ""},
		{"an é and a space", ""},
		{strings.Repeat("a", 128), ""},
		{strings.Repeat("a", 129), "--field-manager may not be more than 128 bytes"},
		{strings.Repeat("é", 65), "--field-manager may not be more than 128 bytes"},
		{"", "--field-manager must not be empty"},
		{"a\tb", "--field-manager must be printable, but has U+0009 at byte 1"},
		{"é\u200b", "--field-manager must be printable, but has U+200B at byte 2"},
	} {
		got := ""
		if err := dryrun.CheckManager(c.name); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.name, got, c.want)
		}
	}
}
