// Package plan says what an apply does to each field of an object, and what is easily overlooked
// about it.
//
// Its nouns are [Plan] and [Field]. Package dryrun plans and decides; here its decisions meet the
// configuration, where fields stand, and the schema, which has defaults and lists that are replaced
// as a whole. How a plan reads is the business of package report.
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

// Plan is what an apply does to one object.
type Plan struct {
	Given       *manifest.Object // the configuration
	Creates     bool
	Change      ownership.Change
	Refused     merge.Conflicts // those that remain
	Fields      []Field
	Nulls       []fieldpath.Path // what becomes null
	Adjustments []dryrun.Adjustment
	Findings    []Finding  // why a server refuses the outcome
	Migration   *Migration // nil if there is none

	stays bool // the object is stored as it was
}

// Field is what an apply does to one field.
type Field struct {
	merge.Decision
	Taken    bool            // a conflict that is decided for the applier
	Where    notice.Position // in the configuration, if the field is there and was looked for
	Default  value.Value     // what the field becomes that goes, as the schema says or a server fills it in
	Replaced *Replaced       // nil unless the field is an atomic list or object that changes
}

// Replaced says what a list or object loses that is replaced as a whole.
type Replaced struct {
	List   bool // rather than an object
	Before int  // how many items or members there were
	Lost   int  // how many of them are not there any more
}

// Finding is why a server refuses the outcome.
type Finding struct {
	types.Finding
	Where notice.Position // in the configuration, of what is nearest to the path
}

// Migration is what kubectl does besides with an object of its client-side apply.
type Migration struct {
	*dryrun.Migration
	Fields []Field // of the apply that is repeated
}

// Of says what x, an apply of t, does. kept says that where fields stand is wanted for those, too,
// that are kept. The error is that of [dryrun.Task.Adjustments].
func Of(t *dryrun.Task, x dryrun.Applied, kept bool) (*Plan, error) {
	p := &planner{Task: t, kept: kept, result: t.Written(x).Content, refused: map[secret.Key]bool{}}
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
	for _, f := range x.Findings {
		out.Findings = append(out.Findings, Finding{f, t.Given.Key(manifest.Steps(t.Given.Content, f.Path)...)})
	}
	if m := x.Migration; m != nil {
		out.Migration = &Migration{Migration: m}
		if m.Again != nil {
			out.Migration.Fields = p.again(m.Again)
		}
	}
	return out, nil
}

// IsNoOp reports whether p changes neither the object, as it is stored, nor its owners.
func (p *Plan) IsNoOp() bool { return p.Migration == nil && p.stays && !p.Change.Ownership }

// IsNotationOnly reports whether p changes nothing but how values are written.
func (p *Plan) IsNotationOnly() bool { return p.Migration == nil && !p.stays && p.Change.NotationOnly }

// planner looks up what there is to say of decisions about one object.
type planner struct {
	*dryrun.Task
	kept     bool
	result   value.Value                // what the object becomes, conflicts forced
	refused  map[secret.Key]bool        // the paths of conflicts that remain
	defaults map[secret.Key]value.Value // what a server fills in for fields that go, by their paths
}

// again returns what the apply that kubectl repeats after a migration does, but for what it leaves
// alone.
func (p *planner) again(plan *managedfields.Plan) []Field {
	var decisions []merge.Decision
	for d := range plan.Decisions() {
		if d.Outcome != merge.Kept && d.Outcome != merge.Shared && d.Outcome != merge.Claimed && p.writes(d.Path) {
			decisions = append(decisions, d)
		}
	}
	return p.fields(decisions)
}

// decide returns what plan decides about the fields that are written, and looks up what a server
// fills in for those that go.
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

// fields says what decisions do to their paths. It looks these up in the configuration in one walk:
// all that are wanted, and what is around them, beside which a report puts what the configuration
// lacks.
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

// The rules by which an applier takes what is in conflict: by force, and kubectl from its own
// client-side apply.
const (
	ruleForced    = merge.Rule("A7")
	ruleTakenOver = merge.Rule("S5")
)

// field says what there is to say of d.
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

// defaultOf returns the default that a field gets which d removes from an object that stays: what
// the schema says, or a server fills in; absent when there is none.
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
		if f.Name == name && !f.Default.IsAbsent() && manifest.Lookup(p.result, path).Kind() == value.KindObject {
			return f.Default
		}
	}
	return value.Value{}
}
