package merge

import (
	"iter"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

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

// String returns the outcome in one lower-case word.
func (o Outcome) String() string { return outcomes[o].word }

// Rule names a rule, such as A3. The rules stand in the doc comments of [Engine.Apply] and [Engine.Update], and with
// examples in docs/rules.md.
type Rule string

// Decision says what an apply does to one path, and why.
type Decision struct {
	Path    fieldpath.Path
	Outcome Outcome
	Rule    Rule
	Live    value.Value // what is there now; absent when nothing is
	Result  value.Value // what will be there, conflicts forced
	Before  []Manager   // who owns the path now, sorted
	After   []Manager   // who will own it, conflicts forced
}

// Decisions yields one Decision for each path that the apply affects, in the order of [fieldpath.Set.All]. Paths and values
// are in the request's version; managers count as owners when they have the path in a version that equals it.
func (p *Plan) Decisions() iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		after := settle(p.managers, p.losses, p.own)
		taken := p.taken()
		for path := range p.paths().All() {
			d := Decision{
				Path: path, Live: p.call.Live.At(path), Result: p.call.object.At(path),
				Before: p.owners(p.managers, path), After: p.owners(after, path),
			}
			d.Outcome = p.outcome(path, taken, len(d.After))
			d.Rule = outcomes[d.Outcome].rule
			if !yield(d) {
				return
			}
		}
	}
}

// taken returns the fields that others lose to the applier.
func (p *Plan) taken() fieldpath.Set {
	var all fieldpath.Set
	for _, l := range p.losses {
		if l.entry.APIVersion == p.own.APIVersion {
			all = all.Union(l.taken)
		}
	}
	return all
}

func (p *Plan) outcome(path fieldpath.Path, taken fieldpath.Set, owners int) Outcome {
	request := p.call.versions[0]
	own, last := p.own.Fields.Has(path), p.last.APIVersion == p.own.APIVersion && p.last.Fields.Has(path)
	switch changed := request.changed.Has(path); {
	case taken.Has(path):
		return Conflicting
	case request.diff.Removed.Has(path) && last:
		return Pruned
	case request.diff.Removed.Has(path):
		return Dropped
	case own && changed:
		return Set
	case own && owners > 1:
		return Shared
	case own && last:
		return Kept
	case own:
		return Claimed
	case changed:
		return Adjusted
	}
	return Released
}

// owners returns who of managers owns path in the request's version.
func (p *Plan) owners(managers Managers, path fieldpath.Path) []Manager {
	var out []Manager
	for e := range managers.OwnersOf(path) {
		if e.APIVersion == p.own.APIVersion {
			out = append(out, e.Manager)
		}
	}
	return out
}
