package cli

import (
	"bufio"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// planFlags are those of deed plan.
type planFlags struct {
	writeFlags
	force       forceFlags
	all         bool
	showSecrets bool
	format      choice
	color       colorFlags
}

const formatText = "text"

func (c *cli) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan -f CONFIG [--live LIVE]",
		Short: "Say what an apply would do to each field, and why",
		Long: `Say what applying configurations would do to each field, without the objects:
from which value to which, by which rule, and who owns the field before and
after.

  set          the value becomes the configuration's
  claimed      the value stays, and the manager becomes its only owner
  shared       the value stays, and the manager becomes an owner beside others
  kept         the value stays, and was the manager's before (--all lists these)
  conflicting  the value would change, but others own it
  taken        the same, and --force-conflicts or the like decides for the manager
  released     the value stays, and the manager does not own it any more
  pruned       the field goes, because the manager does not apply it any more
  dropped      the field goes with an item or object around it
  adjusted     the value changes because of what happens below it

The letter and number behind each are those of the rule, see docs/rules.md.

Notes say what is easily overlooked: lists and objects that are replaced as a
whole with what they lose, values that return to a default, nulls that would be
left, and values that are written in another way than the server has them. An
apply that changes nothing is named as such.

Defaults are known as far as the schema says them: those of built-in kinds are
mostly filled in by code. Objects are read and found as by deed apply. The exit
code is 1 if there are conflicts.`,
		Example: `  # What would happen, and with whom is there a conflict?
  deed plan -f web.yaml --live live.yaml

  # What would be taken, for a program to read
  deed plan -f web.yaml --live live.yaml --force-conflicts -o json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return c.plan(f) },
	}
	flags := cmd.Flags()
	f.register(flags, "kubectl")
	registerForce(flags, &f.force)
	flags.BoolVar(&f.all, "all", false, "list fields that are kept too")
	flags.BoolVar(&f.showSecrets, "show-secrets", false, "show the values of Secrets")
	f.format = choice{formatText, []string{formatText, formatJSON}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	registerSchemas(flags, &f.schemas)
	return cmd
}

// plan is deed plan.
func (c *cli) plan(f planFlags) error {
	force, err := f.force.force()
	if err != nil {
		return err
	}
	w, err := c.open(f.writeFlags, nil)
	if w == nil {
		return err
	}
	out, paint := bufio.NewWriter(c.out), f.color.painter(c.out)
	total := planSummary{Outcomes: map[string]int{}}
	var plans []*objectPlan
	work := func(t *task) planned { return planOne(t, f.manager, f.showSecrets, force) }
	forEach(c, "planning", w.configTasks(), work, func(t *task, x planned) {
		if x.err != nil {
			refused(c.library, t, applyRole, x.err)
			return
		}
		if x.plan.Conflicts > 0 {
			c.raise(exitFinding)
		}
		total.add(x.plan)
		if f.format.value == formatText {
			x.plan.write(out, f.all, paint)
		} else {
			plans = append(plans, x.plan)
		}
	})
	if f.format.value == formatText {
		total.write(out, paint)
	} else {
		writeJSON(out, map[string]any{"objects": orEmpty(plans), "summary": total})
	}
	if err := out.Flush(); err != nil {
		c.failed(err)
	}
	return nil
}

// planned is the outcome of planning one object.
type planned struct {
	plan *objectPlan
	err  error
}

func planOne(t *task, manager string, showSecrets bool, force force) planned {
	fields := t.endpoint.manager
	plan, err := fields.Plan(t.stored, t.given.Object, manager)
	if err != nil {
		return planned{err: err}
	}
	given := t.given.Object
	if t.endpoint.restores == restoreStatus {
		given.Content = given.Content.With(statusName, t.stored.Content.Get(statusName))
	}
	change, err := ownership.WouldChange(fields, t.stored, given, manager)
	if err != nil {
		return planned{err: err}
	}
	forced, err := plan.Force()
	if err != nil {
		return planned{err: err}
	}
	p := &planner{
		task: t, force: force, showSecrets: showSecrets, result: t.endpoint.restore(t.stored, forced).Content, conflicts: map[string]bool{},
	}
	for _, c := range plan.Conflicts() {
		key := string(c.Path.AppendText(nil))
		p.conflicts[key] = p.conflicts[key] || !force.takes(c)
	}
	return planned{plan: p.object(manager, plan, change)}
}

// planner says in words what a plan does to one object.
type planner struct {
	*task
	force       force
	showSecrets bool
	result      value.Value     // what the object becomes, conflicts forced
	conflicts   map[string]bool // paths that are in conflict, and whether the conflict remains
}

func (p *planner) object(manager string, plan *managedfields.Plan, change ownership.Change) *objectPlan {
	o := &objectPlan{
		object: p.given, File: p.given.file, Document: p.given.number, Line: p.given.at().line,
		APIVersion: p.given.GVK().APIVersion(), Kind: p.given.id.kind, Namespace: p.given.id.namespace, Name: p.given.id.name,
		Manager: manager, Creates: p.live == nil, NoOp: change.IsNone(), Outcomes: map[string]int{},
		Decisions: []*fieldPlan{}, Notations: []*notationPlan{},
		Nulls: orEmpty(newNulls(p.stored.Content, p.result, nil)),
	}
	for d := range plan.Decisions() {
		if p.endpoint.restores == restoreStatus && len(d.Path) > 0 && d.Path[0] == fieldpath.Field(statusName) {
			continue // is not written
		}
		field := p.field(d)
		o.Outcomes[field.Outcome]++
		if field.Outcome == merge.Conflicting.String() {
			o.Conflicts++
		}
		o.Decisions = append(o.Decisions, field)
	}
	for _, n := range change.Notations {
		live, wanted := p.shown(n.Path, n.Live, n.Wanted)
		o.Notations = append(o.Notations, &notationPlan{Path: n.Path.String(), Kind: n.Kind.String(), Live: live, Wanted: wanted})
	}
	o.NotationOnly = change.NotationOnly
	return o
}

// Outcomes beside those of merge: conflicts that are decided for the applier.
const (
	outcomeTaken = "taken"
	ruleTaken    = merge.Rule("A7")
)

// field says what d does to its path.
func (p *planner) field(d merge.Decision) *fieldPlan {
	f := &fieldPlan{
		Path: d.Path.String(), Outcome: d.Outcome.String(), Rule: d.Rule, Before: owners(d.Before), After: owners(d.After),
	}
	if remains := p.conflicts[f.Path]; d.Outcome == merge.Conflicting && !remains {
		f.Outcome, f.Rule = outcomeTaken, ruleTaken
	}
	if way := steps(p.given.Content, d.Path); len(way) == len(d.Path) && !valueAt(p.given.Content, way).IsAbsent() {
		where := p.given.key(way...)
		f.Line, f.Column = where.line, where.column
	}
	f.Live, f.Result = p.shown(d.Path, d.Live, d.Result)
	f.Notes = p.notes(d)
	return f
}

// shown returns two values as they may be shown.
func (p *planner) shown(path fieldpath.Path, live, result value.Value) (value.Value, value.Value) {
	if !p.showSecrets && isSecretPath(p.given.Object, path) {
		return maskPair(live, result)
	}
	return live, result
}

// notes says what is easily overlooked about d.
func (p *planner) notes(d merge.Decision) []string {
	var notes []string
	t := typeAt(p.endpoint.typ, d.Path)
	if !d.Live.Equal(d.Result) && t != nil && !d.Live.IsAbsent() {
		switch {
		case t.List() != nil && t.List().Topology() == schema.AtomicList && d.Live.Kind() == value.KindList:
			notes = append(notes, atomicList(d.Live, d.Result))
		case t.Map() != nil && t.Map().Atomic() && d.Live.Kind() == value.KindObject:
			notes = append(notes, atomicObject(d.Live, d.Result))
		}
	}
	if standard := p.defaultOf(d); !standard.IsAbsent() {
		notes = append(notes, "returns to its default "+show(standard))
	}
	return notes
}

// defaultOf returns the default that the schema has for a field that d removes from an object that stays, absent when it has
// none.
func (p *planner) defaultOf(d merge.Decision) value.Value {
	if len(d.Path) == 0 || d.Live.IsAbsent() || !d.Result.IsAbsent() {
		return value.Value{}
	}
	path, name := d.Path[:len(d.Path)-1], d.Path[len(d.Path)-1].Name()
	parent := typeAt(p.endpoint.typ, path)
	if parent == nil || parent.Map() == nil || lookup(p.result, path).Kind() != value.KindObject {
		return value.Value{}
	}
	for _, f := range parent.Map().Fields() {
		if f.Name == name {
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

// atomicList says what the list live loses when it is replaced by result.
func atomicList(live, result value.Value) string {
	lost := 0
	used := make([]bool, result.Len())
	for item := range live.Items() {
		found := false
		for j := 0; j < result.Len() && result.Kind() == value.KindList && !found; j++ {
			if found = !used[j] && item.Equal(result.Item(j)); found {
				used[j] = true
			}
		}
		if !found {
			lost++
		}
	}
	return fmt.Sprintf("atomic: %s replaced, loses %d", plural(live.Len(), "item"), lost)
}

// atomicObject is [atomicList] for objects.
func atomicObject(live, result value.Value) string {
	lost := 0
	for name := range live.Members() {
		if result.Get(name).IsAbsent() {
			lost++
		}
	}
	return fmt.Sprintf("atomic: %s replaced, loses %d", plural(live.Len(), "member"), lost)
}
