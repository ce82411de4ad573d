package merge

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Why each path of an apply becomes what it becomes. Nothing is decided here: a decision tells from
// the sets that have a path, before and after, which rule was at work. With ann as the applier:
//
//	path        own  last  changed  removed  taken    outcome
//	.replicas   yes  yes   yes      no       by bob   Conflicting    A6
//	.paused     no   yes   no       yes      -        Pruned         A3
//	.args       yes  no    no       no       -        Claimed, or Shared if others own it

// Outcome is what an apply does to one path.
type Outcome uint8

// The outcomes, each with the rule of [Engine.Apply] that makes it.
const (
	Set         Outcome = iota + 1 // the value changes to the configuration's, and the applier owns it
	Claimed                        // the value stays; the applier owns it, and nobody else does
	Kept                           // the value stays and was the applier's before
	Shared                         // the value stays; the applier owns it, and others do too
	Conflicting                    // the value would change, but others own it; Force decides for the applier
	Released                       // the value stays; the applier owned it and does not any more
	Pruned                         // the field goes: the applier owned it, and nobody else does
	Dropped                        // the field goes with an item or object that is pruned
	Adjusted                       // the value changes because of what happens below it, as when a container becomes null
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

// String returns the outcome in one lower-case word, and "" for what is none.
func (o Outcome) String() string {
	if int(o) >= len(outcomes) {
		return ""
	}
	return outcomes[o].word
}

// Rule names a rule, such as A3. The rules stand in the doc comments of [Engine.Apply] and
// [Engine.Update], and with examples in docs/rules.md.
type Rule string

// Decision says what an apply does to one path, and why.
type Decision struct {
	Path       fieldpath.Path
	APIVersion string // that Path, Live and Result are of
	Outcome    Outcome
	Rule       Rule
	Live       value.Value // what is there now; absent when nothing is
	Result     value.Value // what will be there, conflicts forced
	Before     []Manager   // who owns the path now, sorted
	After      []Manager   // who will own it, conflicts forced
}

// Decisions yields one Decision for each path that the apply affects, in the order of
// [fieldpath.Set.All]:
//
//  1. Paths are in the request's version: what the applier owned or owns, what the object gains,
//     changes and loses.
//  2. Behind these come, version by version, the conflicts about paths that do not change in the
//     request's version, because another version has the field under another name, or owns it by
//     other parts. These are in their owners' version.
//  3. So the paths that are Conflicting are those of [Plan.Conflicts].
//  4. Whoever has the path counts as its owner, in whatever version its entry is.
//
// It costs one [typed.Walk] for each version, along all that the managers own.
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
		in := p.lossesByVersion()
		for _, v := range p.call.versions[1:] {
			if !d.decide(p.contested(union(p.taken(in[v]))).Minus(request.changed), v, yield) {
				return
			}
		}
	}
}

// request returns the apply as seen in the request's version. If no other manager owns anything, both
// objects are compared only here, and the result is not kept: p is immutable.
func (p *Plan) request() *version {
	v := p.call.versions[0]
	if v.gone || v.compared {
		return v
	}
	late := *v
	if err := p.call.compare(&late); err != nil {
		panic(err) // seen leaves the comparison out only if it cannot fail
	}
	return &late
}

// affected returns every path that the apply affects in request, the request's version.
func (p *Plan) affected(request *version) fieldpath.Set {
	last := p.last.Fields
	if p.last.APIVersion != p.own.APIVersion { // it may have paths there that lead nowhere here
		last = last.Intersect(p.call.Live.Fields())
	}
	return p.own.Fields.Union(last).Union(request.changed).Union(request.diff.Removed)
}

// The sets that decide about a path, by their numbers in the walk. Behind them come those of the
// managers.
const (
	ownSet     = iota // what the applier owns afterwards
	lastSet           // what it owned before
	takenSet          // conflicts
	changedSet        // what is added or modified
	removedSet        // what is removed
	managerSets
)

// decider makes decisions out of the sets that have a path.
type decider struct {
	sets     []fieldpath.Set // of managerSets and behind: the managers before, and then those after
	managers []Manager       // of these sets
	before   int             // how many of managers are those before
}

// decider returns what makes the decisions of p: the sets of the applier, and those of all managers
// before and after, which one walk asks about each path.
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

// decide yields the decisions about paths, which are of version v. It reports false when no more
// are wanted.
func (d *decider) decide(paths fieldpath.Set, v *version, yield func(Decision) bool) bool {
	d.sets[changedSet], d.sets[removedSet] = v.changed, v.diff.Removed
	for at := range typed.Walk(paths, []typed.Value{v.old, v.new}, d.sets...) {
		if !yield(d.decision(at, v)) {
			return false
		}
	}
	return true
}

// decision returns the decision about the path at which the walk is.
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

// outcomeOf returns the outcome for a path that is in these sets and has so many owners afterwards.
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
