package report

import (
	"fmt"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/dryrun"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/internal/wording"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// PlanView says what of a plan is shown.
type PlanView struct {
	Secrets bool // the values of Secrets
	Kept    bool // where fields stand that are kept; of others that is always known
}

// NewObjectPlan says what x, an apply of t by manager, does. The error is that of [dryrun.Task.Adjustments].
func NewObjectPlan(t *dryrun.Task, manager string, x dryrun.Applied, view PlanView) (*ObjectPlan, error) {
	p := &planner{Task: t, PlanView: view, result: t.Written(x).Content, refused: map[string]bool{}}
	for _, c := range x.Refused {
		p.refused[c.Path.Text()] = true
	}
	o := p.object(manager, x.Plan, t.Change(x))
	adjustments, err := t.Adjustments(x)
	if err != nil {
		return nil, err
	}
	o.Adjustments = []*adjustedPlan{}
	for _, a := range adjustments {
		merged, stored := p.shown(a.Path, a.Merged, a.Stored)
		o.Adjustments = append(o.Adjustments, &adjustedPlan{a.Path.String(), a.How, merged, stored})
		o.Outcomes[string(a.How)]++
	}
	for _, f := range x.Findings {
		where := t.Given.Key(manifest.Steps(t.Given.Content, f.Path)...)
		o.Findings = append(o.Findings, &findingPlan{f.Path.String(), f.Class, f.Reason, where.Line, where.Column, f.String()})
		o.Outcomes[refused]++
	}
	o.Conflicts = len(Contests(x.Refused))
	if m := x.Migration; m != nil {
		o.NoOp, o.NotationOnly = false, false
		o.Migration = &migrationPlan{From: m.From, Requests: m.Requests}
		if m.Failed != nil {
			o.Migration.Error = m.Failed.Error()
		}
		if m.Again != nil {
			o.Migration.Decisions = p.again(m.Again)
		}
	}
	return o, nil
}

// again returns what the apply that kubectl repeats after a migration does, but for what it leaves alone.
func (p *planner) again(plan *managedfields.Plan) []*fieldPlan {
	var decisions []merge.Decision
	for d := range plan.Decisions() {
		if d.Outcome != merge.Kept && d.Outcome != merge.Shared && d.Outcome != merge.Claimed && p.writes(d.Path) {
			decisions = append(decisions, d)
		}
	}
	return p.fields(decisions)
}

// planner says in words what a plan does to one object.
type planner struct {
	*dryrun.Task
	PlanView
	result   value.Value            // what the object becomes, conflicts forced
	refused  map[string]bool        // the paths of conflicts that remain
	defaults map[string]value.Value // what a server fills in for fields that go, by their paths
}

func (p *planner) object(manager string, plan *managedfields.Plan, change ownership.Change) *ObjectPlan {
	o := &ObjectPlan{
		object: p.Given, File: p.Given.File, Document: p.Given.Number, Line: p.Given.At().Line,
		APIVersion: p.Given.GVK().APIVersion(), Kind: p.Given.Id.Kind, Namespace: p.Given.Id.Namespace, Name: p.Given.Id.Name,
		Manager: manager, Creates: p.Live == nil, NoOp: !change.Object && !change.Ownership, Outcomes: map[string]int{},
		Decisions: []*fieldPlan{}, Notations: []*notationPlan{},
		Nulls: OrEmpty(newNulls(p.Stored.Content, p.result, nil)),
	}
	for _, field := range p.fields(p.decide(plan)) {
		o.Outcomes[field.Outcome]++
		o.Decisions = append(o.Decisions, field)
	}
	for _, n := range change.Notations {
		live, wanted := p.shown(n.Path, n.Live, n.Wanted)
		o.Notations = append(o.Notations, &notationPlan{Path: n.Path.String(), Kind: n.Kind, Live: live, Wanted: wanted})
	}
	o.NotationOnly = change.NotationOnly
	return o
}

// decide returns what plan decides about the fields that are written, and looks up what a server fills in for those that go.
func (p *planner) decide(plan *managedfields.Plan) (decisions []merge.Decision) {
	var gone fieldpath.Builder
	for d := range plan.Decisions() {
		if goes(d) {
			gone.Add(d.Path)
		}
		if p.writes(d.Path) {
			decisions = append(decisions, d)
		}
	}
	p.defaults = types.DefaultsAt(managedfields.Object{Content: p.result}, gone.Set())
	return decisions
}

// writes reports whether what is at path is written at all.
func (p *planner) writes(path fieldpath.Path) bool {
	isStatus := len(path) > 0 && path[0] == fieldpath.Field(types.StatusName)
	switch p.Endpoint.Restores {
	case types.RestoreStatus:
		return !isStatus
	case types.RestoreRest:
		return isStatus
	}
	return true
}

// Outcomes beside those of merge: conflicts that are decided for the applier.
const (
	OutcomeTaken = "taken"
	ruleTaken    = merge.Rule("A7")
)

// fields says what decisions do to their paths. It looks these up in the configuration in one walk: all that are wanted, and what
// is around them, beside which [inDocumentOrder] puts what the configuration lacks.
func (p *planner) fields(decisions []merge.Decision) []*fieldPlan {
	keys := p.Given.Keys(func(yield func(fieldpath.Path) bool) {
		for _, d := range decisions {
			if d.Outcome == merge.Kept && !p.Kept {
				continue
			}
			for n := range d.Path {
				if !yield(d.Path[:n+1]) {
					return
				}
			}
		}
	})
	out := []*fieldPlan{}
	for _, d := range decisions {
		f := p.field(d)
		if where, ok := keys[d.Path.Text()]; ok {
			f.Line, f.Column = where.Line, where.Column
		}
		out = append(out, f)
	}
	return out
}

// ruleTakenOver is that of fields which kubectl takes over from its own client-side apply.
const ruleTakenOver = merge.Rule("S5")

// field says what d does to its path.
func (p *planner) field(d merge.Decision) *fieldPlan {
	f := &fieldPlan{
		Path: d.Path.String(), Outcome: d.Outcome.String(), Rule: d.Rule, Before: owners(d.Before), After: owners(d.After),
	}
	switch {
	case d.Rule == ruleTakenOver:
		f.Outcome = OutcomeTaken
	case d.Outcome == merge.Conflicting && !p.refused[d.Path.Text()]:
		f.Outcome, f.Rule = OutcomeTaken, ruleTaken
	}
	f.Live, f.Result = p.shown(d.Path, d.Live, d.Result)
	f.Notes = p.notes(d)
	if f.Default = p.defaultOf(d); !f.Default.IsAbsent() {
		_, f.Default = p.shown(d.Path, value.Value{}, f.Default)
	}
	return f
}

// shown returns two values as they may be shown.
func (p *planner) shown(path fieldpath.Path, live, result value.Value) (value.Value, value.Value) {
	if !p.Secrets && IsSecretPath(p.Given.Object, path) {
		return MaskPair(live, result)
	}
	return live, result
}

// notes says what is easily overlooked about d.
func (p *planner) notes(d merge.Decision) []string {
	var notes []string
	t := types.TypeAt(p.Endpoint.Typ, d.Path)
	if !d.Live.Equal(d.Result) && t != nil && !d.Live.IsAbsent() {
		switch {
		case t.List() != nil && t.List().Topology() == schema.AtomicList && d.Live.Kind() == value.KindList:
			notes = append(notes, atomicList(d.Live, d.Result))
			notes = append(notes, innerNotes(p.Given.Object, d.Path, d.Live, d.Result)...)
		case t.Map() != nil && t.Map().Atomic() && d.Live.Kind() == value.KindObject:
			notes = append(notes, atomicObject(d.Live, d.Result))
			notes = append(notes, innerNotes(p.Given.Object, d.Path, d.Live, d.Result)...)
		}
	}
	return notes
}

// goes reports whether d removes a field.
func goes(d merge.Decision) bool { return len(d.Path) > 0 && !d.Live.IsAbsent() && d.Result.IsAbsent() }

// defaultOf returns the default that a field gets which d removes from an object that stays: what the schema says, or a server
// fills in; absent when there is none.
func (p *planner) defaultOf(d merge.Decision) value.Value {
	if !goes(d) {
		return value.Value{}
	}
	if v, ok := p.defaults[d.Path.Text()]; ok {
		return v
	}
	path, name := d.Path[:len(d.Path)-1], d.Path[len(d.Path)-1].Name()
	parent := types.TypeAt(p.Endpoint.Typ, path)
	if parent == nil || parent.Map() == nil {
		return value.Value{}
	}
	for _, f := range parent.Map().Fields() {
		if f.Name == name && !f.Default.IsAbsent() && manifest.Lookup(p.result, path).Kind() == value.KindObject {
			return f.Default
		}
	}
	return value.Value{}
}

// newNulls returns the paths of what is null in result and something else in live. Items of lists that differ in length are
// not looked at.
func newNulls(live, result value.Value, path fieldpath.Path) []string {
	var out []string
	switch {
	case result.Same(live):
	case result.IsNull() && !live.IsAbsent() && !live.IsNull():
		return []string{path.String()}
	case result.Kind() == value.KindObject && live.Kind() == value.KindObject:
		for name, member := range result.Members() {
			out = append(out, newNulls(live.Get(name), member, append(slices.Clone(path), fieldpath.Field(name)))...)
		}
	case result.Kind() == value.KindList && live.Kind() == value.KindList && result.Len() == live.Len():
		for i := range result.Len() {
			out = append(out, newNulls(live.Item(i), result.Item(i), append(slices.Clone(path), fieldpath.Index(i)))...)
		}
	}
	return out
}

// atomicList says what the list live loses when it is replaced by result. It costs as much as both have.
func atomicList(live, result value.Value) string {
	left := map[fieldpath.Element]int{} // how often result has an item that is not one of live's yet
	for item := range result.Items() {
		left[fieldpath.Item(item)]++
	}
	lost := 0
	for item := range live.Items() {
		e := fieldpath.Item(item)
		if left[e]--; left[e] < 0 {
			lost++
		}
	}
	return fmt.Sprintf("atomic: %s replaced, loses %d", wording.Plural(live.Len(), "item"), lost)
}

// atomicObject is [atomicList] for objects.
func atomicObject(live, result value.Value) string {
	lost := 0
	for name := range live.Members() {
		if result.Get(name).IsAbsent() {
			lost++
		}
	}
	return fmt.Sprintf("atomic: %s replaced, loses %d", wording.Plural(live.Len(), "member"), lost)
}
