package playground

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/blame"
	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/plan"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/managedfields"
)

// Object is what an apply does to one object.
type Object struct {
	Name string `json:"name"` // its kind, namespace and name
	// Result is stored, conflict or refused; or live, if no configuration is applied to the object.
	Result string `json:"result"`
	// Reason is the first line of a conflict or a refusal, in the words of the server.
	Reason    string             `json:"reason,omitempty"`
	Conflicts []report.Contested `json:"conflicts,omitempty"`
	Taken     []report.Contested `json:"taken,omitempty"` // the fields that are taken by force
	Creates   bool               `json:"creates"`
	NoOp      bool               `json:"noOp"`
	Outcomes  map[string]int     `json:"outcomes,omitempty"` // how many fields have which outcome
	Rows      []report.PlanRow   `json:"rows,omitempty"`
	// YAML is the stored object, as deed apply prints it: empty if nothing is stored.
	YAML string `json:"yaml,omitempty"`
	// Blame is the stored object with the owners of each line, or the live object if nothing is stored; nil if there is neither.
	Blame any `json:"blame,omitempty"`
	// Changed holds the lines of Blame, counted from 0, that the live object lacks.
	Changed []int `json:"changed,omitempty"`
}

// The results of objects.
const (
	resultStored   = "stored"
	resultConflict = "conflict"
	resultRefused  = "refused"
	resultLive     = "live"
)

// apply answers a.
func (s *session) apply(a *Apply) {
	force, err := dryrun.ForceFlags{All: a.Force, Fields: a.Fields}.Force()
	if err == nil {
		err = dryrun.CheckManager(a.Manager)
	}
	if err != nil {
		s.Problem(notice.Position{}, "%s", secret.Open.Error(err))
		return
	}
	reader := manifest.Everything
	reader.Given = true
	var given []*manifest.Object
	if strings.TrimSpace(a.Config) != "" {
		given = s.ObjectsBy(reader, s.Read([]string{ConfigFile}, false))
	}
	before := s.Problems
	var live *manifest.Live
	if strings.TrimSpace(a.Live) == "" {
		live = manifest.NewLive(nil)
	} else {
		live = s.Index(s.ReadLive([]string{LiveFile}, false), manifest.Everything)
	}
	live.Complete = s.Problems == before
	kinds := s.NewTypes(s.schemas(), slices.Concat(given, live.Definitions)...)
	if kinds == nil {
		return
	}
	if len(given) == 0 {
		s.live(live, kinds)
		return
	}
	w := dryrun.NewWorkload(s.Library, kinds, managedfields.Config{Now: s.now}, slices.Values(given), live)
	r := &applier{session: s, kinds: kinds.Apart(), how: dryrun.Apply{Manager: a.Manager, Force: force, Migrate: dryrun.KubectlAlone}}
	r.conflicts = report.ConflictReport{Log: s.Log, Manager: a.Manager, Migrate: func(from []string) string { return migration(a.Manager, from) }}
	r.total.Outcomes = map[string]int{}
	dryrun.Each(w, "", true, r.one, r.use)
	r.conflicts.Advise()
	r.total.End(w.Given, s.Notices)
	var text bytes.Buffer
	out := bufio.NewWriter(&text)
	r.total.Write(out, false)
	for _, p := range r.plans {
		p.Write(out, false, false)
	}
	out.Flush() // a buffer takes everything
	s.out.Plan = text.String()
}

// migration returns the command line that gives the fields of the managers in from to manager.
func migration(manager string, from []string) string {
	words := []string{"deed", "migrate", "--live", LiveFile, "-f", ConfigFile, "--field-manager", manager}
	for _, name := range from {
		words = append(words, "--from", name)
	}
	for i, word := range words {
		words[i] = wording.ShellWord(word)
	}
	return strings.Join(words, " ")
}

// live adds the stored objects, to which nothing is applied.
func (s *session) live(live *manifest.Live, kinds *types.Types) {
	for at := range live.All() {
		o := at.Read(s.Loader)
		if o == nil {
			continue
		}
		s.Untracked(o)
		s.out.Objects = append(s.out.Objects, &Object{Name: o.String(), Result: resultLive, Blame: s.blame(o, kinds)})
	}
}

// applier applies configurations.
type applier struct {
	*session
	kinds     *types.Types
	how       dryrun.Apply
	conflicts report.ConflictReport
	plans     []*report.ObjectPlan
	total     report.PlanSummary
}

// applied is the outcome of an apply, with its plan unless that fails.
type applied struct {
	dryrun.Applied
	plan *report.ObjectPlan
	err  error
}

func (r *applier) one(t *dryrun.Task) applied {
	out := applied{Applied: r.how.One(t)}
	if out.Err != nil {
		return out
	}
	made, err := plan.Of(t, out.Applied, true)
	if out.err = err; err == nil {
		out.plan = report.NewObjectPlan(made, r.how.Manager)
	}
	return out
}

// use adds the object of t, to which x was applied, and reports like deed apply.
func (r *applier) use(t *dryrun.Task, x applied) {
	o := &Object{Name: t.Given.String(), Result: resultStored}
	r.out.Objects = append(r.out.Objects, o)
	if t.Live != nil { // also gives each manager the same color before and after
		o.Blame = r.blame(t.Live, r.kinds)
	}
	if x.err != nil {
		x.Err = x.err
	}
	switch {
	case x.Err != nil:
		o.Result, o.Reason = resultRefused, notice.OneLine(t.Given.View().Error(x.Err))
		dryrun.Refused(r.Library, t, dryrun.ApplyRole, x.Err)
		return
	case len(x.Refused) > 0:
		o.Result, o.Reason = resultConflict, notice.OneLine(t.Given.View().Error(x.Refused))
		o.Conflicts = report.ContestedFields(t.Given, x.Refused)
		r.conflicts.Add(t, x.Refused)
	default:
		report.Forced(r.Library, t.Given, x.Taken)
		report.TakenOver(r.Library, t.Given, x.TakenOver)
		report.Migrated(r.Library, t.Given, x.Applied)
		r.store(t, o, x.Outcome)
	}
	o.Taken = report.ContestedFields(t.Given, x.Taken)
	o.Creates, o.NoOp, o.Outcomes, o.Rows = x.plan.Creates, x.plan.NoOp, x.plan.Outcomes, x.plan.Rows()
	r.plans = append(r.plans, x.plan)
	r.total.Add(x.plan)
}

// store adds outcome, which is stored, to o.
func (r *applier) store(t *dryrun.Task, o *Object, outcome managedfields.Object) {
	var text bytes.Buffer
	p := report.NewPrinter(&text, report.FormatYAML, true, false)
	if err := p.Print(outcome); err != nil {
		r.Problem(t.Given.At(), "%v: %s", t.Given, t.Given.View().Error(err))
		return
	}
	if err := p.Close(); err != nil {
		r.Failed(secret.Open.Error(err))
	}
	o.YAML = text.String()
	stored := r.read(text.Bytes())
	if stored == nil {
		return
	}
	o.Blame = r.blame(stored, r.kinds)
	before := ""
	if t.Live != nil {
		before = string(t.Live.View().Value(nil, t.Live.Content).AppendYAML(nil))
	}
	o.Changed = changed(before, string(stored.View().Value(nil, stored.Content).AppendYAML(nil)))
}

// storedFile is the name of stored objects, about which there are no messages.
const storedFile = "stored.yaml"

// read returns the one object in text, which deed printed, or nil if it cannot be read.
func (s *session) read(text []byte) *manifest.Object {
	objects := s.With(s.Log).Objects([]*manifest.Text{{Name: storedFile, Data: text}})
	if len(objects) != 1 {
		return nil
	}
	return objects[0]
}

// blame returns o with the owners of each line, or nil with the reasons reported.
func (s *session) blame(o *manifest.Object, kinds *types.Types) any {
	e, ok := s.TypeOf(o, kinds, managedfields.Config{})
	if !ok {
		return nil
	}
	lines, err := blame.Annotate(o, e)
	s.EntryProblems(o, err)
	return s.pages.Object(blame.Object{Object: o, Lines: lines})
}
