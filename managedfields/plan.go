package managedfields

import (
	"errors"
	"iter"
	"slices"

	"github.com/deed-project/deed/merge"
)

// An apply in two halves. [FieldManager.Plan] computes the half before conflicts are decided, and
// finish computes the half after the decision.

// Plan is an apply whose conflicts are not decided yet. It is immutable. The nil Plan and the zero
// Plan hold no apply: they have no conflicts and no changes, and Commit and Force return an error.
type Plan struct {
	request *request
	stored  decoded
	owners  owned
	merge   *merge.Plan
}

// errNoApply is the error of a Plan that [FieldManager.Plan] did not make.
var errNoApply = errors.New("the plan was not made by FieldManager.Plan")

// isOfNone reports whether p holds no apply.
func (p *Plan) isOfNone() bool { return p == nil || p.merge == nil }

// Conflicts returns the fields that the apply changes although other managers own them: see
// [merge.Plan.Conflicts]. Fields that kubectl takes over from its own client-side apply are not in
// conflict: see [Plan.TakenOver].
func (p *Plan) Conflicts() merge.Conflicts {
	if p.isOfNone() {
		return nil
	}
	return p.mark(p.merge.Conflicts())
}

// TakenOver returns the fields of other managers that kubectl takes over without a conflict,
// because its own client-side apply set them: rule S5. Each field has the form of a conflict.
func (p *Plan) TakenOver() merge.Conflicts {
	if p.isOfNone() {
		return nil
	}
	return p.mark(merging.TakenOver(p.merge))
}

// mark notes in all conflicts that adopt made up the owner, if it did.
func (p *Plan) mark(all merge.Conflicts) merge.Conflicts {
	if p.owners.invented {
		for i := range all {
			merging.Unstored(&all[i])
		}
	}
	return all
}

// Decisions yields the effect of the apply on each path that it affects, with the reason: see
// [merge.Plan.Decisions]. Decisions leaves out identity and bookkeeping fields, which have no
// owner. The rule of fields that kubectl takes over is S5.
func (p *Plan) Decisions() iter.Seq[merge.Decision] {
	return func(yield func(merge.Decision) bool) {
		if p.isOfNone() {
			return
		}
		takenOver := map[string]bool{}
		for _, c := range merging.TakenOver(p.merge) {
			takenOver[c.Path.Text()] = true
		}
		for d := range p.merge.Decisions() {
			if len(d.Path) <= maxSystemDepth && systemFields.Has(d.Path) {
				continue
			}
			if d.Outcome == merge.Set && len(takenOver) > 0 && takenOver[d.Path.Text()] {
				d.Rule = "S5"
			}
			if !yield(d) {
				return
			}
		}
	}
}

// Changed reports whether the apply changes the object, before defaults are filled in. If the
// server holds objects as Go structs, see [Config.Hub], a conversion to another version and back
// rewrites the managed fields. This is also a change if it gives other text.
func (p *Plan) Changed() bool {
	if p.isOfNone() {
		return false
	}
	return merging.Changed(p.merge) || p.request.config.Hub != "" && merging.Detour(p.merge) &&
		slices.ContainsFunc(p.request.live.Entries, Entry.isSortedAsSet)
}

// Commit returns the object to be stored if there is no conflict. Else its error is of type
// [merge.Conflicts], or wraps it: see [merge.ManyConflicts]. Other errors are those of Force.
func (p *Plan) Commit() (Object, error) {
	if p.isOfNone() {
		return Object{}, errNoApply
	}
	if err := merging.Refusal(p.merge); err != nil {
		var conflicts merge.Conflicts
		errors.As(err, &conflicts)
		p.mark(conflicts)
		return Object{}, err
	}
	return p.Force()
}

// Force decides all conflicts for the applier, and returns the object to be stored. If the apply
// changes the object, the result is in the endpoint's version. Otherwise it is the live object as
// it is, in its own version, but for kubectl's annotation. The error is that of Config.Hold, Config.Store, or filling in
// defaults.
func (p *Plan) Force() (Object, error) {
	if p.isOfNone() {
		return Object{}, errNoApply
	}
	return p.finish(p.merge.Force())
}

// finish makes the object to be stored from the decided result, in these steps:
//
//   - Strip: take managed fields out of the content.
//   - Stamp (S8): set the time of the applier's entry if the object changes.
//   - Hold, Default: convert the outcome by Config.Hold, and fill in defaults.
//   - Sync (S6): update kubectl's annotation, which may be the only change.
//   - Store: restore what the endpoint does not write.
func (p *Plan) finish(result merge.Result) (_ Object, err error) {
	r := p.request
	out := r.strip(p.decided(result))
	out = r.stampApply(out)
	sent := out.content
	if out, err = r.hold(out); err != nil {
		return Object{}, err
	}
	held := out.content
	if out, err = r.fillDefaults(out); err != nil {
		return Object{}, err
	}
	if out, err = r.store(r.syncLastApplied(out), sent, held); err != nil {
		return Object{}, err
	}
	source := r.live.source
	if r.creates {
		source = r.object.source
	}
	made := r.encode(out, &p.stored, source)
	if out.changed {
		made.sent = sent
	}
	return made, nil
}

// decided returns the outcome of a plan whose conflicts are decided. An object that does not change
// keeps its own version.
func (p *Plan) decided(result merge.Result) outcome {
	out := outcome{
		content: p.request.live.Content, managers: result.Managers, changed: p.Changed(), checked: result.Object,
	}
	if out.changed {
		out.content = result.Object.Content()
	}
	return out
}
