package report

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/plan"
	"github.com/deed-project/deed/internal/secret"
	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// NewObjectPlan puts p, an apply by manager, into words. With secrets, the values of Secrets are shown.
func NewObjectPlan(p *plan.Plan, manager string, secrets bool) *ObjectPlan {
	w := planWriter{p, secrets}
	o := &ObjectPlan{
		object: p.Given, File: p.Given.File, Document: p.Given.Number, Line: p.Given.At().Line,
		APIVersion: p.Given.GVK().APIVersion(), Kind: p.Given.Id.Kind, Namespace: p.Given.Id.Namespace, Name: p.Given.Id.Name,
		Manager: manager, Creates: p.Creates, NoOp: !p.Change.Object && !p.Change.Ownership, NotationOnly: p.Change.NotationOnly,
		Conflicts: len(Contests(p.Refused)), Outcomes: map[string]int{},
		Decisions: w.fields(p.Fields), Notations: []*notationPlan{}, Nulls: []string{}, Adjustments: []*adjustedPlan{},
	}
	for _, field := range o.Decisions {
		o.Outcomes[field.Outcome]++
	}
	for _, n := range p.Change.Notations {
		live, wanted := w.shown(n.Path, n.Live, n.Wanted)
		o.Notations = append(o.Notations, &notationPlan{Path: n.Path.String(), Kind: n.Kind, Live: live, Wanted: wanted})
	}
	for _, path := range p.Nulls {
		o.Nulls = append(o.Nulls, path.String())
	}
	for _, a := range p.Adjustments {
		merged, stored := w.shown(a.Path, a.Merged, a.Stored)
		o.Adjustments = append(o.Adjustments, &adjustedPlan{a.Path.String(), a.How, merged, stored})
		o.Outcomes[string(a.How)]++
	}
	for _, f := range p.Findings {
		o.Findings = append(o.Findings, &findingPlan{f.Path.String(), f.Class, f.Reason, f.Where.Line, f.Where.Column, f.String()})
		o.Outcomes[refused]++
	}
	if m := p.Migration; m != nil {
		o.NoOp, o.NotationOnly = false, false
		o.Migration = &migrationPlan{From: m.From, Requests: m.Requests}
		if m.Failed != nil {
			o.Migration.Error = m.Failed.Error()
		}
		if m.Again != nil {
			o.Migration.Decisions = w.fields(m.Fields)
		}
	}
	return o
}

// planWriter puts the parts of a plan into words.
type planWriter struct {
	*plan.Plan
	secrets bool
}

// Outcomes beside those of merge: conflicts that are decided for the applier.
const (
	OutcomeTaken = "taken"
	ruleTaken    = merge.Rule("A7")
)

// fields puts what becomes of fields into words.
func (w planWriter) fields(fields []plan.Field) []*fieldPlan {
	out := make([]*fieldPlan, len(fields))
	for i, f := range fields {
		out[i] = w.field(f)
	}
	return out
}

func (w planWriter) field(f plan.Field) *fieldPlan {
	out := &fieldPlan{
		Path: f.Path.String(), Outcome: f.Outcome.String(), Rule: f.Rule, Line: f.Where.Line, Column: f.Where.Column,
		Before: owners(f.Before), After: owners(f.After), Notes: w.notes(f),
	}
	if f.Taken {
		out.Outcome = OutcomeTaken
		if f.Outcome == merge.Conflicting {
			out.Rule = ruleTaken
		}
	}
	out.Live, out.Result = w.shown(f.Path, f.Live, f.Result)
	if out.Default = f.Default; !f.Default.IsAbsent() {
		_, out.Default = w.shown(f.Path, value.Value{}, f.Default)
	}
	return out
}

// shown returns two values as they may be shown.
func (w planWriter) shown(path fieldpath.Path, live, result value.Value) (value.Value, value.Value) {
	if !w.secrets && secret.IsIn(w.Given.Object, path) {
		return secret.Pair(live, result)
	}
	return live, result
}

// notes says what f loses that is replaced as a whole, and where it differs.
func (w planWriter) notes(f plan.Field) []string {
	if f.Replaced == nil {
		return nil
	}
	part := "member"
	if f.Replaced.List {
		part = "item"
	}
	note := fmt.Sprintf("atomic: %s replaced, loses %d", wording.Plural(f.Replaced.Before, part), f.Replaced.Lost)
	return append([]string{note}, innerNotes(w.Given.Object, f.Path, f.Live, f.Result)...)
}
