package report_test

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/entries"
	"github.com/deed-project/deed/cmd/internal/explain"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/plan"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/selector"
	"github.com/deed-project/deed/cmd/internal/storytest"
	"github.com/deed-project/deed/cmd/internal/types"
)

// TestStories runs the stories of testdata, see [storytest.Run]. These commands print several objects:
//
//	apply FILE as=MANAGER WORD...                         conflicts and taken fields; outcomes are stored
//	plan FILE as=MANAGER format=FORMAT [all=] [only=OUTCOME,...] WORD... plans
//	diff FILE as=MANAGER WORD...                          differences as JSON
//	status FILE as=MANAGER                                the server's answers to refusals, as JSON
//	fields FILE format=FORMAT [managers=M,...] [only=M,...] the fields of entries
//	explain FILE PATH format=FORMAT                       explanations
//
// The words are those of [storytest.Story.Apply].
func TestStories(t *testing.T) {
	storytest.Run(t, map[string]func(*storytest.Story){
		"apply": applyAll, "plan": planAll, "diff": diffAll, "status": statuses, "fields": fields, "explain": explained,
	})
}

// printed prints the output of f.
func printed(s *storytest.Story, f func(*bytes.Buffer)) {
	var b bytes.Buffer
	f(&b)
	s.Print("%s", strings.TrimRight(b.String(), "\n"))
}

// applied applies the objects of the command's file, and calls f for each.
func applied(s *storytest.Story, c *types.Library, f func(*dryrun.Task, dryrun.Applied)) {
	how := s.Apply(c)
	dryrun.Each(s.Workload(c), "applying", true, how.One, func(t *dryrun.Task, x dryrun.Applied) {
		if x.Err != nil {
			dryrun.Refused(c, t, dryrun.ApplyRole, x.Err)
			return
		}
		f(t, x)
	})
}

func applyAll(s *storytest.Story) {
	c := s.Library()
	migrate := func(from []string) string { return "deed migrate --from " + strings.Join(from, " --from ") }
	conflicts := report.ConflictReport{Log: c.Log, Manager: s.Word("as"), Migrate: migrate}
	var unknown report.Unknowns
	applied(s, c, func(t *dryrun.Task, x dryrun.Applied) {
		if len(x.Refused) > 0 {
			conflicts.Add(t, x.Refused)
			return
		}
		report.Forced(c, t.Given, x.Taken)
		report.Left(c, t.Given, x.Left)
		report.TakenOver(c, t.Given, x.TakenOver)
		report.Migrated(c, t.Given, x)
		report.Refused(c.Log, t, x.Findings)
		unknown.Add(c.Log, t, x.Outcome, x.Validated)
		s.Store(x.Outcome)
	})
	conflicts.Advise()
}

func planAll(s *storytest.Story) {
	c := s.Library()
	printed(s, func(b *bytes.Buffer) {
		only, err := report.NewPlanFilter(s.Words["only"])
		if err != nil {
			s.Fatal(err)
		}
		p := report.NewPlanPrinter(b, s.Word("format"), s.Has("all"), only, false)
		n := 0
		applied(s, c, func(t *dryrun.Task, x dryrun.Applied) {
			made, err := plan.Of(t, x, s.Has("all") || s.Word("format") == report.FormatJSON)
			if err != nil {
				s.Fatal(err)
			}
			n++
			p.Print(report.NewObjectPlan(made, s.Word("as")))
		})
		if err := p.Close(n, c.Notices); err != nil {
			s.Fatal(err)
		}
	})
}

func diffAll(s *storytest.Story) {
	c := s.Library()
	printed(s, func(b *bytes.Buffer) {
		p := report.NewDiffPrinter(c.Log, b)
		applied(s, c, func(t *dryrun.Task, x dryrun.Applied) {
			if len(x.Refused) == 0 {
				p.Add(t, x.Outcome)
			}
		})
		if err := p.Close(); err != nil {
			s.Fatal(err)
		}
	})
}

func statuses(s *storytest.Story) {
	c := s.Library()
	printed(s, func(b *bytes.Buffer) {
		p := report.NewPrinter(b, report.FormatJSON, true, true)
		applied(s, c, func(t *dryrun.Task, x dryrun.Applied) {
			if err := p.PrintStatus(t.Given, x.Refused); err != nil {
				s.Fatal(err)
			}
		})
		if err := p.Close(); err != nil {
			s.Fatal(err)
		}
	})
}

func fields(s *storytest.Story) {
	c := s.Library()
	managers := func(word string) (out []selector.Manager) {
		for _, text := range s.Words[word] {
			out = append(out, selector.ParseManager(text))
		}
		return out
	}
	q := entries.Query{Managers: managers("managers"), Only: managers("only")}
	printed(s, func(b *bytes.Buffer) {
		p := report.NewFieldsPrinter(b, s.Word("format"), q, false, false)
		for _, o := range c.Objects(c.Read(s.Args, false)) {
			e, err := entries.Of(o)
			c.EntryProblems(o, err)
			p.Print(e)
		}
		if err := p.Close(); err != nil {
			s.Fatal(err)
		}
	})
}

func explained(s *storytest.Story) {
	c := s.Library()
	printed(s, func(b *bytes.Buffer) {
		out := bufio.NewWriter(b)
		s.Each(c, func(o *manifest.Object, e *types.Endpoint) {
			path, err := selector.Parse(s.Args[1])
			if err != nil {
				s.Fatal(err)
			}
			all, err := explain.InObject(c, o, e, path)
			if err != nil {
				s.Fatal(err)
			}
			if err := report.WriteExplanations(out, s.Word("format"), all, false); err != nil {
				s.Fatal(err)
			}
		})
		out.Flush()
	})
}
