// Package plan describes the effect of an apply on each field of an object, and points out changes that are easily overlooked.
//
// Its nouns are [Plan] and [Field]. Package dryrun plans and decides; this package adds the positions of fields in the configuration, and
// from the schema the defaults and the lists that are replaced as a whole. Package report prints plans.
package plan

import (
	"github.com/deed-project/deed/cmd/internal/dryrun"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// Plan is the effect of an apply on one object.
type Plan struct {
	Given       *manifest.Object // the configuration
	Creates     bool
	Change      ownership.Change
	Refused     merge.Conflicts // the remaining conflicts
	Fields      []Field
	Nulls       []fieldpath.Path // the paths of values that become null
	Adjustments []dryrun.Adjustment
	Findings    []Finding  // why a server refuses the outcome
	Migration   *Migration // nil if there is none

	stays bool // the stored object does not change
}

// Field is the effect of an apply on one field.
type Field struct {
	merge.Decision
	Taken    bool            // a conflict that is decided for the applier
	Where    notice.Position // in the configuration, if the field is there and was looked up
	Default  value.Value     // the new value of a removed field, from the schema or a server
	Replaced *Replaced       // nil unless the field is an atomic list or object that changes
}

// Replaced counts the losses of a list or object that is replaced as a whole.
type Replaced struct {
	List   bool // a list, or else an object
	Before int  // the number of items or members before
	Lost   int  // how many of them are gone
}

// Finding is a reason why a server refuses the outcome.
type Finding struct {
	types.Finding
	Where notice.Position // the position of the path, or of the nearest one, in the configuration
}

// Migration describes the further requests of kubectl for an object of its client-side apply.
type Migration struct {
	*dryrun.Migration
	Fields []Field // the fields of the repeated apply
}

// Of returns the plan of x, an apply of t. If kept is set, kept fields get positions, too. The error is that of [dryrun.Task.Adjustments].
func Of(t *dryrun.Task, x dryrun.Applied, kept bool) (*Plan, error) {
	result := t.Written(x).Content
	p := &planner{Task: t, kept: kept, result: result, find: manifest.NewFinder(result), refused: map[secret.Key]bool{}}
	for _, c := range x.Refused {
		p.refused[secret.KeyOf(c.Path)] = true
	}
	decisions, err := t.Settle(x, p.decide(x.Plan))
	if err != nil {
		return nil, err
	}
	out := &Plan{
		Given: t.Given, Creates: t.Live == nil, Change: t.Change(x), Refused: x.Refused,
		Fields: p.fields(decisions), Nulls: newNulls(t.Stored.Content, p.result, nil),
		stays: t.Live != nil && t.Before().Content.Equal(x.Outcome.Content),
	}
	if out.Adjustments, err = t.Adjustments(x); err != nil {
		return nil, err
	}
	find := t.Given.Find()
	for _, f := range x.Findings {
		out.Findings = append(out.Findings, Finding{f, t.Given.Key(find.Steps(f.Path)...)})
	}
	if m := x.Migration; m != nil {
		out.Migration = &Migration{Migration: m}
		if m.Again != nil {
			out.Migration.Fields = p.again(m.Again)
		}
	}
	return out, nil
}

// IsNoOp reports whether p changes neither the stored object nor its owners.
func (p *Plan) IsNoOp() bool { return p.Migration == nil && p.stays && !p.Change.Ownership }

// IsNotationOnly reports whether p changes only the notation of values.
func (p *Plan) IsNotationOnly() bool { return p.Migration == nil && !p.stays && p.Change.NotationOnly }

// planner collects the data about decisions on one object.
type planner struct {
	*dryrun.Task
	kept     bool
	result   value.Value                // the outcome with all conflicts forced
	find     *manifest.Finder           // in result
	refused  map[secret.Key]bool        // the paths of the remaining conflicts
	defaults map[secret.Key]value.Value // the defaults that a server fills in for removed fields, by path
}

// again returns the fields that the repeated apply of kubectl changes after a migration.
func (p *planner) again(plan *managedfields.Plan) []Field {
	var decisions []merge.Decision
	for d := range plan.Decisions() {
		if d.Outcome != merge.Kept && d.Outcome != merge.Shared && d.Outcome != merge.Claimed && p.writes(d.Path) {
			decisions = append(decisions, d)
		}
	}
	return p.fields(decisions)
}

// decide returns the decisions of plan about the fields that are written, and looks up the defaults of removed fields.
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

// writes reports whether the endpoint writes the value at path.
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

// fields returns the fields for decisions. It looks up the positions of all wanted paths, and of the containers around them, in one walk. A
// report puts fields that the configuration lacks beside these containers.
func (p *planner) fields(decisions []merge.Decision) []Field {
	keys := p.Given.Keys(func(yield func(fieldpath.Path) bool) {
		for _, d := range decisions {
			if d.Outcome == merge.Kept && !p.kept {
				continue
			}
			for n := range d.Path {
				if !yield(d.Path[:n+1]) {
					return
				}
			}
		}
	})
	out := []Field{}
	for _, d := range decisions {
		f := p.field(d)
		if where, ok := keys[secret.KeyOf(d.Path)]; ok {
			f.Where = where
		}
		out = append(out, f)
	}
	return out
}

// The rules by which an applier takes fields in conflict: by force, and kubectl from its own client-side apply.
const (
	ruleForced    = merge.Rule("A7")
	ruleTakenOver = merge.Rule("S5")
)

// field returns the field for d.
func (p *planner) field(d merge.Decision) Field {
	f := Field{Decision: d, Default: p.defaultOf(d), Replaced: p.replaced(d)}
	switch {
	case d.Outcome == merge.Conflicting && !p.refused[secret.KeyOf(d.Path)]:
		f.Taken, f.Rule = true, ruleForced
	case d.Rule == ruleTakenOver:
		f.Taken = true
	}
	return f
}

// goes reports whether d removes a field.
func goes(d merge.Decision) bool { return len(d.Path) > 0 && !d.Live.IsAbsent() && d.Result.IsAbsent() }

// defaultOf returns the default of a field that d removes from an object that stays, from the schema or a server; absent if there is none.
func (p *planner) defaultOf(d merge.Decision) value.Value {
	if !goes(d) {
		return value.Value{}
	}
	if v, ok := p.defaults[secret.KeyOf(d.Path)]; ok {
		return v
	}
	path, name := d.Path[:len(d.Path)-1], d.Path[len(d.Path)-1].Name()
	parent := types.TypeAt(p.Endpoint.Typ, path)
	if parent == nil || parent.Map() == nil {
		return value.Value{}
	}
	for _, f := range parent.Map().Fields() {
		if f.Name == name && !f.Default.IsAbsent() && p.find.Lookup(path).Kind() == value.KindObject {
			return f.Default
		}
	}
	return value.Value{}
}
