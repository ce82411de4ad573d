package plan_test

import (
	"testing"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/plan"
	"github.com/deed-project/deed/cmd/internal/storytest"
)

// TestStories runs the stories of testdata, see [storytest.Run]. The command
//
//	plan FILE as=MANAGER [kept=] WORD...
//
// prints the plan of [storytest.Story.Apply] for each object; kept= also prints the positions of kept fields. Outcomes are stored unless
// they are refused.
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){"plan": planned})
}

func planned(s *storytest.Story) {
	c := s.Library()
	how := s.Apply(c)
	dryrun.Each(s.Workload(c), "planning", true, how.One, func(t *dryrun.Task, x dryrun.Applied) {
		if x.Err != nil {
			dryrun.Refused(c, t, dryrun.ApplyRole, x.Err)
			return
		}
		p, err := plan.Of(t, x, s.Has("kept"))
		if err != nil {
			s.Fatal(err)
		}
		s.Print("%v: creates %t, no-op %t, notation only %t, %d conflicts", p.Given, p.Creates, p.IsNoOp(), p.IsNotationOnly(), len(p.Refused))
		printFields(s, "  ", p.Fields)
		for _, path := range p.Nulls {
			s.Print("  null %s", path.Text())
		}
		for _, a := range p.Adjustments {
			s.Print("  %s %s: %s -> %s", a.How, a.Path.Text(), storytest.Show(a.Merged), storytest.Show(a.Stored))
		}
		for _, f := range p.Findings {
			s.Print("  finding at %v: %s", f.Where, f.Text(p.Given.View()))
		}
		if m := p.Migration; m != nil {
			s.Print("  kubectl migrates from %q", m.From)
			printFields(s, "    ", m.Fields)
		}
		if len(x.Refused) == 0 {
			s.Store(x.Outcome)
		}
	})
}

func printFields(s *storytest.Story, indent string, fields []plan.Field) {
	for _, f := range fields {
		s.Print("%s%v %s: %s -> %s by %s, taken %t, at %q", indent, f.Outcome, f.Path.Text(), storytest.Show(f.Live), storytest.Show(f.Result), f.Rule,
			f.Taken, f.Where.String())
		if !f.Default.IsAbsent() {
			s.Print("%s  becomes %s by default", indent, storytest.Show(f.Default))
		}
		if r := f.Replaced; r != nil {
			s.Print("%s  replaced as a whole: list %t, %d of %d are lost", indent, r.List, r.Lost, r.Before)
		}
	}
}
