package managedfields

import (
	"errors"
	"iter"
	"slices"

	"github.com/deed-project/deed/merge"
)

// An apply in two halves: what comes before anybody has decided about conflicts, which
// [FieldManager.Plan] has done, and what comes after, which is finish.

// Plan is an apply whose conflicts are not decided yet. It is immutable. The nil Plan and the zero Plan
// are of no apply: nothing is in conflict, nothing changes, and to commit or force them is an error.
type Plan struct {
	request *request
	stored  decoded
	owners  owned
	merge   *merge.Plan
}

// errNoApply is the error of a Plan that [FieldManager.Plan] did not make.
var errNoApply = errors.New("the plan was not made by FieldManager.Plan")

// isOfNone reports whether p is of no apply.
func (p *Plan) isOfNone() bool { return p == nil || p.merge == nil }

// Conflicts returns the fields that the apply changes although others own them: see
// [merge.Plan.Conflicts]. There are none on fields that kubectl takes over from its own client-side
// apply: see [Plan.TakenOver].
func (p *Plan) Conflicts() merge.Conflicts {
	if p.isOfNone() {
		return nil
	}
	return p.mark(p.merge.Conflicts())
}

// TakenOver returns the fields that others own and kubectl takes over without a conflict, because
// its own client-side apply set them: rule S5. They are what their conflicts would be.
func (p *Plan) TakenOver() merge.Conflicts {
	if p.isOfNone() {
		return nil
	}
	return p.mark(merging.TakenOver(p.merge))
}

// mark says of conflicts with an owner that adopt made that it was made.
func (p *Plan) mark(all merge.Conflicts) merge.Conflicts {
	if p.owners.invented {
		for i := range all {
			merging.Unstored(&all[i])
		}
	}
	return all
}

// Decisions yields what the apply does to each path that it affects, and why: see
// [merge.Plan.Decisions]. Fields of identity and bookkeeping, which are nobody's, are left out. The
// rule of fields that kubectl takes over is S5.
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

// Changed reports whether the apply changes the object, before defaults are filled in. Where
// objects are held as Go structs, see [Config.Hub], one that was converted to another version and
// back has its managed fields written anew: that is a change, too, when it comes to other text.
func (p *Plan) Changed() bool {
	if p.isOfNone() {
		return false
	}
	return merging.Changed(p.merge) || p.request.config.Hub != "" && merging.Detour(p.merge) &&
		slices.ContainsFunc(p.request.live.Entries, Entry.isSortedAsSet)
}

// Commit returns what is to be stored if there is no conflict. Its error is of type
// [merge.Conflicts], or wraps it: see [merge.ManyConflicts].
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

// Force returns what is to be stored with all conflicts decided for the applier: in the endpoint's
// version if the apply changes the object, and else the live object as it is, in its own. The error
// is that of filling in defaults.
func (p *Plan) Force() (Object, error) {
	if p.isOfNone() {
		return Object{}, errNoApply
	}
	return p.finish(p.merge.Force())
}

// finish makes what is to be stored of what was decided.
//
// Steps: fields of identity and bookkeeping are taken out of the applier's set (Strip, S7); its
// entry gets the current time if the object changes (Stamp, S8); the outcome is held and defaults
// are filled in (Hold, Default); kubectl's annotation is kept up to date (Sync, S6); what the
// endpoint does not write stays as it is (Store).
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
// stays in its own version.
func (p *Plan) decided(result merge.Result) outcome {
	out := outcome{
		content: p.request.live.Content, managers: result.Managers, changed: p.Changed(), checked: result.Object,
	}
	if out.changed {
		out.content = result.Object.Content()
	}
	return out
}
