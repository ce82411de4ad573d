package report

import (
	"fmt"

	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/plan"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/merge"
)

// ObjectPlan is the plan of an apply to one object. Its JSON is the output of deed plan.
type ObjectPlan struct {
	object *manifest.Object
	manifest.Ref
	Manager      string          `json:"manager"`
	Creates      bool            `json:"creates"`
	NoOp         bool            `json:"noOp"`
	NotationOnly bool            `json:"notationOnly"`
	Conflicts    int             `json:"conflicts"`
	Outcomes     map[string]int  `json:"outcomes"`
	Decisions    []*fieldPlan    `json:"decisions"`
	Notations    []*notationPlan `json:"notations"`
	Nulls        []string        `json:"nulls"` // the paths of values that become null
	Adjustments  []*adjustedPlan `json:"adjustments"`
	Findings     []*findingPlan  `json:"findings,omitempty"` // the reasons why a server refuses the outcome
	Migration    *migrationPlan  `json:"migration,omitempty"`
}

// migrationPlan is the plan of the further requests of kubectl for an object of its client-side apply.
type migrationPlan struct {
	From      []string     `json:"from"`
	Requests  []string     `json:"requests"`
	Decisions []*fieldPlan `json:"decisions"` // the decisions of the repeated apply
	Error     string       `json:"error,omitempty"`
	saved     bool         // see [dryrun.Migration]
}

// adjustedPlan is a field whose stored value differs from its merged value.
type adjustedPlan struct {
	Path   string       `json:"path"`
	How    dryrun.How   `json:"how"`
	Merged secret.Value `json:"merged,omitzero"`
	Stored secret.Value `json:"stored,omitzero"`
}

// findingPlan is a reason why a server refuses the outcome of an apply.
type findingPlan struct {
	Path   string `json:"path"`
	Class  string `json:"class"`
	Reason string `json:"reason"`
	Line   int    `json:"line,omitempty"` // the line of the field or the nearest one in the configuration
	Column int    `json:"column,omitempty"`

	text string
}

// fieldPlan is the plan for one field.
type fieldPlan struct {
	Path    string       `json:"path"`
	Outcome string       `json:"outcome"`
	Rule    merge.Rule   `json:"rule"`
	Line    int          `json:"line,omitempty"` // the line in the configuration, if it has the field
	Column  int          `json:"column,omitempty"`
	Live    secret.Value `json:"live,omitzero"`
	Result  secret.Value `json:"result,omitzero"`
	Default secret.Value `json:"default,omitzero"` // the default that a server fills in for a removed field
	Before  []Owner      `json:"before"`
	After   []Owner      `json:"after"`
	Notes   []string     `json:"notes,omitempty"`
}

// notationPlan is a value with two notations.
type notationPlan struct {
	Path   string       `json:"path"`
	Kind   string       `json:"kind"`
	Live   secret.Value `json:"live"`
	Wanted secret.Value `json:"wanted"`
}

// PlanSummary counts the contents of several plans.
type PlanSummary struct {
	Objects      int            `json:"objects"` // the number of objects, including those that were not planned
	Created      int            `json:"created"`
	NoOps        int            `json:"noOps"`
	NotPlanned   int            `json:"notPlanned"`   // the number of objects that are refused or have an unknown outcome
	ReadProblems int            `json:"readProblems"` // the number of files, documents and objects that could not be read
	Conflicts    int            `json:"conflicts"`
	Outcomes     map[string]int `json:"outcomes"`
}

// Add counts the contents of o.
func (s *PlanSummary) Add(o *ObjectPlan) {
	s.Objects++
	s.Conflicts += o.Conflicts
	if o.Creates {
		s.Created++
	}
	if o.NoOp {
		s.NoOps++
	}
	for word, n := range o.Outcomes {
		s.Outcomes[word] += n
	}
}

// NewObjectPlan converts p, an apply by manager, to text, with secrets masked.
func NewObjectPlan(p *plan.Plan, manager string) *ObjectPlan {
	w := planWriter{p, p.Given.View()}
	o := &ObjectPlan{
		object: p.Given, Ref: p.Given.Ref(),
		Manager: manager, Creates: p.Creates, NoOp: p.IsNoOp(), NotationOnly: p.IsNotationOnly(),
		Conflicts: len(dryrun.Contests(p.Refused)), Outcomes: map[string]int{},
		Decisions: w.fields(p.Fields), Notations: []*notationPlan{}, Nulls: []string{}, Adjustments: []*adjustedPlan{},
	}
	for _, field := range o.Decisions {
		o.Outcomes[field.Outcome]++
	}
	for _, n := range p.Change.Notations {
		live, wanted := w.view.Pair(n.Path, n.Live, n.Wanted)
		o.Notations = append(o.Notations, &notationPlan{Path: w.view.Path(n.Path), Kind: n.Kind, Live: live, Wanted: wanted})
	}
	for _, path := range p.Nulls {
		o.Nulls = append(o.Nulls, w.view.Path(path))
	}
	for _, a := range p.Adjustments {
		merged, stored := w.view.Pair(a.Path, a.Merged, a.Stored)
		o.Adjustments = append(o.Adjustments, &adjustedPlan{w.view.Path(a.Path), a.How, merged, stored})
		o.Outcomes[string(a.How)]++
	}
	for _, f := range p.Findings {
		o.Findings = append(o.Findings, &findingPlan{w.view.Path(f.Path), f.Class, f.Reason(w.view), f.Where.Line, f.Where.Column, f.Text(w.view)})
		o.Outcomes[refused]++
	}
	if m := p.Migration; m != nil {
		o.Migration = &migrationPlan{From: append([]string{}, m.From...), Requests: m.Requests, Error: m.Reason(w.view), saved: m.Saved}
		if m.Again != nil {
			o.Migration.Decisions = w.fields(m.Fields)
		}
	}
	return o
}

// planWriter converts the parts of a plan to text.
type planWriter struct {
	*plan.Plan
	view secret.View
}

// OutcomeTaken is an outcome that merge lacks: a conflict that is decided for the applier.
const OutcomeTaken = "taken"

// fields converts the plans of fields to text.
func (w planWriter) fields(fields []plan.Field) []*fieldPlan {
	out := make([]*fieldPlan, len(fields))
	for i, f := range fields {
		out[i] = w.field(f)
	}
	return out
}

func (w planWriter) field(f plan.Field) *fieldPlan {
	out := &fieldPlan{
		Path: w.view.Path(f.Path), Outcome: f.Outcome.String(), Rule: f.Rule, Line: f.Where.Line, Column: f.Where.Column,
		Before: owners(f.Before), After: owners(f.After),
	}
	if f.Taken {
		out.Outcome = OutcomeTaken
	}
	out.Live, out.Result = w.view.Pair(f.Path, f.Live, f.Result)
	out.Notes = w.notes(f, out.Live, out.Result)
	if !f.Default.IsAbsent() { // then the field is removed, and there is no result
		out.Live, out.Default = w.view.Pair(f.Path, f.Live, f.Default)
	}
	return out
}

// notes describes the losses of f if it is replaced as a whole, and the differences between live and result.
func (w planWriter) notes(f plan.Field, live, result secret.Value) []string {
	if f.Replaced == nil {
		return nil
	}
	part := "member"
	if f.Replaced.List {
		part = "item"
	}
	note := fmt.Sprintf("atomic: %s replaced, loses %d", wording.Plural(f.Replaced.Before, part), f.Replaced.Lost)
	return append([]string{note}, innerNotes(w.view.Last(f.Path), live, result)...)
}
