// Package plan says what an apply does to each field of an object, and what is easily overlooked about it.
//
// Its nouns are [Plan] and [Field]. Package dryrun plans and decides; here its decisions meet the configuration, where fields stand,
// and the schema, which has defaults and lists that are replaced as a whole. How a plan reads is the business of package report.
package plan

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/dryrun"
	"github.com/deed-project/deed/internal/manifest"
	"github.com/deed-project/deed/internal/notice"
	"github.com/deed-project/deed/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
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

// Of says what x, an apply of t, does. kept says that where fields stand is wanted for those, too, that are kept. The error is that
// of [dryrun.Task.Adjustments].
func Of(t *dryrun.Task, x dryrun.Applied, kept bool) (*Plan, error) {
	p := &planner{Task: t, kept: kept, result: t.Written(x).Content, refused: map[string]bool{}}
	for _, c := range x.Refused {
		p.refused[c.Path.Text()] = true
	}
	out := &Plan{
		Given: t.Given, Creates: t.Live == nil, Change: t.Change(x), Refused: x.Refused,
		Fields: p.fields(p.decide(x.Plan)), Nulls: newNulls(t.Stored.Content, p.result, nil),
	}
	var err error
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

// planner looks up what there is to say of decisions about one object.
type planner struct {
	*dryrun.Task
	kept     bool
	result   value.Value            // what the object becomes, conflicts forced
	refused  map[string]bool        // the paths of conflicts that remain
	defaults map[string]value.Value // what a server fills in for fields that go, by their paths
}

// again returns what the apply that kubectl repeats after a migration does, but for what it leaves alone.
func (p *planner) again(plan *managedfields.Plan) []Field {
	var decisions []merge.Decision
	for d := range plan.Decisions() {
		if d.Outcome != merge.Kept && d.Outcome != merge.Shared && d.Outcome != merge.Claimed && p.writes(d.Path) {
			decisions = append(decisions, d)
		}
	}
	return p.fields(decisions)
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

// fields says what decisions do to their paths. It looks these up in the configuration in one walk: all that are wanted, and what
// is around them, beside which a report puts what the configuration lacks.
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
		if where, ok := keys[d.Path.Text()]; ok {
			f.Where = where
		}
		out = append(out, f)
	}
	return out
}

// ruleTakenOver is that of fields which kubectl takes over from its own client-side apply.
const ruleTakenOver = merge.Rule("S5")

// field says what there is to say of d.
func (p *planner) field(d merge.Decision) Field {
	return Field{
		Decision: d, Default: p.defaultOf(d), Replaced: p.replaced(d),
		Taken: d.Rule == ruleTakenOver || d.Outcome == merge.Conflicting && !p.refused[d.Path.Text()],
	}
}

// replaced says what the atomic list or object loses that d replaces, and nil if it replaces none.
func (p *planner) replaced(d merge.Decision) *Replaced {
	t := types.TypeAt(p.Endpoint.Typ, d.Path)
	if d.Live.Equal(d.Result) || t == nil || d.Live.IsAbsent() {
		return nil
	}
	switch {
	case t.List() != nil && t.List().Topology() == schema.AtomicList && d.Live.Kind() == value.KindList:
		return &Replaced{List: true, Before: d.Live.Len(), Lost: lostItems(d.Live, d.Result)}
	case t.Map() != nil && t.Map().Atomic() && d.Live.Kind() == value.KindObject:
		return &Replaced{Before: d.Live.Len(), Lost: lostMembers(d.Live, d.Result)}
	}
	return nil
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
func newNulls(live, result value.Value, path fieldpath.Path) []fieldpath.Path {
	var out []fieldpath.Path
	switch {
	case result.Same(live):
	case result.IsNull() && !live.IsAbsent() && !live.IsNull():
		return []fieldpath.Path{path}
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

// lostItems returns how many items of the list live are not in result, which replaces it. It costs as much as both have.
func lostItems(live, result value.Value) (lost int) {
	left := map[fieldpath.Element]int{} // how often result has an item that is not one of live's yet
	for item := range result.Items() {
		left[fieldpath.Item(item)]++
	}
	for item := range live.Items() {
		e := fieldpath.Item(item)
		if left[e]--; left[e] < 0 {
			lost++
		}
	}
	return lost
}

// lostMembers is lostItems for objects.
func lostMembers(live, result value.Value) (lost int) {
	for name := range live.Members() {
		if result.Get(name).IsAbsent() {
			lost++
		}
	}
	return lost
}
