package merge

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Decisions explain the outcome of each path of an apply. They decide nothing: they find the rule
// from the sets that have the path before and after the apply. In this example, ann is the applier:
//
//	path        own  last  changed  removed  taken    outcome
//	.replicas   yes  yes   yes      no       by bob   Conflicting    A6
//	.paused     no   yes   no       yes      -        Pruned         A3
//	.args       yes  no    no       no       -        Claimed, or Shared if others own it

// Outcome is the effect of an apply on one path.
type Outcome uint8

// The outcomes, each with the rule of [Engine.Apply] that makes it.
const (
	Set         Outcome = iota + 1 // the value changes to the configuration's, and the applier owns it
	Claimed                        // the value stays; the applier is now its only owner
	Kept                           // the value stays; the applier is its only owner and owned it before
	Shared                         // the value stays; the applier and other managers own it
	Conflicting                    // the value would change, but other managers own it; Force decides for the applier
	Released                       // the value stays; the applier owned it and does not any more
	Pruned                         // the field is removed: the applier owned it, and no other manager does
	Dropped                        // the field is removed together with an item or object
	Adjusted                       // the value changes because of a change below it, as when a container becomes null
)

// outcomes has a word and a rule for each Outcome.
var outcomes = [...]struct {
	word string
	rule Rule
}{
	Set:         {"set", "A2"},
	Claimed:     {"claimed", "A2"},
	Kept:        {"kept", "A2"},
	Shared:      {"shared", "A5"},
	Conflicting: {"conflicting", "A6"},
	Released:    {"released", "A4"},
	Pruned:      {"pruned", "A3"},
	Dropped:     {"dropped", "O2"},
	Adjusted:    {"adjusted", "A1"},
}

// String returns the outcome in one lower-case word, and "" for an unknown outcome.
func (o Outcome) String() string {
	if int(o) >= len(outcomes) {
		return ""
	}
	return outcomes[o].word
}

// Rule names a rule, such as A3. The doc comments of [Engine.Apply] and [Engine.Update] list the
// rules. docs/rules.md lists them with examples.
type Rule string

// Decision is the effect of an apply on one path, and the rule that causes it.
type Decision struct {
	Path       fieldpath.Path
	APIVersion string // version of Path, Live and Result
	Outcome    Outcome
	Rule       Rule
	Live       value.Value // current value; absent if there is none
	Result     value.Value // value after the apply, conflicts forced
	Before     []Manager   // current owners of the path, sorted
	After      []Manager   // owners after the apply, conflicts forced
}

// Decisions yields one Decision for each path that the apply affects, in the order of
// [fieldpath.Set.All]:
//
//  1. First come paths in the request's version: the fields that the applier owned or owns, and the
//     fields that the object gains, changes or loses.
//  2. Then come, version by version, conflicts whose paths do not change in the request's version.
//     This happens if another version has the field under another name, or owns it by other parts.
//     These paths are in the version of the owners.
//  3. The Conflicting paths are therefore the paths of [Plan.Conflicts].
//  4. Each manager whose set has the path counts as an owner, whatever the version of its entry.
//
// Cost: one [typed.Walk] for each version, in step with the sets of all managers.
func (p *Plan) Decisions() iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		if p.isOfNone() {
			return
		}
		d := p.decider()
		request := p.request()
		if !d.decide(p.affected(request), request, yield) {
			return
		}
		for v, in := range p.lossesByVersion() {
			if v == p.call.versions[0] {
				continue
			}
			if !d.decide(p.contested(union(p.taken(in))).Minus(request.changed), v, yield) {
				return
			}
		}
	}
}

// request returns the apply in the request's version. If no other manager owns fields, both objects
// are compared only here. The comparison is not kept, because p is immutable.
func (p *Plan) request() *version {
	v := p.call.versions[0]
	if v.gone || v.compared {
		return v
	}
	late := *v
	if err := p.call.compare(&late); err != nil {
		panic(err) // seen skips the comparison only if it cannot fail
	}
	return &late
}

// affected returns every path that the apply affects in request, the request's version.
func (p *Plan) affected(request *version) fieldpath.Set {
	last := p.last.Fields
	if p.last.APIVersion != p.own.APIVersion { // paths of another version may lead nowhere here
		last = last.Intersect(p.call.Live.Fields())
	}
	return p.own.Fields.Union(last).Union(request.changed).Union(request.diff.Removed)
}

// Numbers of the sets that decide about a path, in the walk. The sets of the managers come after
// them.
const (
	ownSet     = iota // fields of the applier after the apply
	lastSet           // fields of the applier before the apply
	takenSet          // conflicts
	changedSet        // added or modified fields
	removedSet        // removed fields
	managerSets
)

// decider makes decisions from the sets that have a path.
type decider struct {
	sets     []fieldpath.Set // from managerSets on: the managers before the apply, and then the managers after it
	managers []Manager       // managers of the sets from managerSets on
	before   int             // number of managers before the apply
}

// decider returns the decider of p. One walk looks up each path in its sets: the sets of the
// applier, and the sets of all managers before and after the apply.
func (p *Plan) decider() *decider {
	d := &decider{sets: make([]fieldpath.Set, managerSets), before: p.managers.size()}
	d.sets[ownSet], d.sets[lastSet] = p.own.Fields, p.last.Fields
	for _, in := range p.lossesByVersion() {
		d.sets[takenSet] = d.sets[takenSet].Union(p.contested(union(p.taken(in))))
	}
	for _, managers := range []Managers{p.managers, settle(p.managers, p.losses, p.own)} {
		for e := range managers.All() {
			d.sets, d.managers = append(d.sets, e.Fields), append(d.managers, e.Manager)
		}
	}
	return d
}

// decide yields the decisions about paths, which are in version v. It returns false if the consumer
// wants no more.
func (d *decider) decide(paths fieldpath.Set, v *version, yield func(Decision) bool) bool {
	d.sets[changedSet], d.sets[removedSet] = v.changed, v.diff.Removed
	for at := range typed.Walk(paths, []typed.Value{v.old, v.new}, d.sets...) {
		if !yield(d.decision(at, v)) {
			return false
		}
	}
	return true
}

// decision returns the decision about the path of at.
func (d *decider) decision(at typed.Step, v *version) Decision {
	out := Decision{Path: slices.Clone(at.Path), APIVersion: v.apiVersion, Live: at.Values[0], Result: at.Values[1]}
	var in [managerSets]bool
	for _, n := range at.Sets {
		switch m := n - managerSets; {
		case m < 0:
			in[n] = true
		case m < d.before:
			out.Before = append(out.Before, d.managers[m])
		default:
			out.After = append(out.After, d.managers[m])
		}
	}
	out.Outcome = outcomeOf(in, len(out.After))
	out.Rule = outcomes[out.Outcome].rule
	return out
}

// outcomeOf returns the outcome for a path that is in the given sets. owners is the number of its
// owners after the apply.
func outcomeOf(in [managerSets]bool, owners int) Outcome {
	switch {
	case in[takenSet] && in[changedSet]:
		return Conflicting
	case in[removedSet] && in[lastSet]:
		return Pruned
	case in[removedSet]:
		return Dropped
	case in[ownSet] && in[changedSet]:
		return Set
	case in[ownSet] && owners > 1:
		return Shared
	case in[ownSet] && in[lastSet]:
		return Kept
	case in[ownSet]:
		return Claimed
	case in[changedSet]:
		return Adjusted
	}
	return Released
}
