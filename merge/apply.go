package merge

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/typed"
)

// An apply merges, prunes, and computes the new owners. In this example, ann owned .replicas and
// .paused, and now applies .replicas alone with another value. bob owns .replicas, too:
//
//	live      {replicas: 1, paused: true}     ann: .paused .replicas    bob: .replicas
//	config    {replicas: 2}
//
//	merged    {replicas: 2, paused: true}     A1
//	pruned    {replicas: 2}                   A3: ann alone owned .paused, and gives it up
//	losses    bob: .replicas                  A6: a conflict
//	forced    ann: .replicas                  A7: bob loses his only field, and is dropped by O4

// Apply merges a configuration into the live object, by these rules:
//
//	O1  Sets are adapted to the schema first, by R1 to R3. Managers of versions that are gone lose
//	    their fields.
//	A1  The configuration is merged into the live object, see [typed.Merge].
//	A2  The applier owns exactly the fields of its configuration, see [typed.Value.Fields].
//	A3  A field of the applier's last apply is pruned if the applier does not apply it now and no
//	    other manager owns it.
//	A4  If another manager owns such a field, the field stays and is no longer the applier's.
//	    Fields below it that the applier never owned stay, too, unless they are part of a pruned
//	    item or object.
//	A5  An applier that applies the value that a field has becomes a co-owner of the field.
//	A6  Changing or adding a field that another manager owns is a conflict. Only the exact path
//	    counts, not the paths above or below it. Removing a field is no conflict.
//	A7  If the conflict is forced, the other owner loses the field.
//	O2  Every manager loses the fields that are removed.
//	O3  Reset fields change no ownership.
//	O4  A manager without fields is dropped.
//
// The conflicts are not decided yet: see [Plan]. Errors come from typed.Merge, typed.Reconcile,
// typed.Compare and the converter.
func (e *Engine) Apply(r Request) (*Plan, error) {
	p, err := e.call(r).newPlan()
	if err != nil {
		return nil, err
	}
	c := p.call
	merged, err := typed.Merge(c.Live, c.Object)
	if err != nil {
		return nil, fmt.Errorf("failed to merge config: %w", err)
	}
	p.own.Fields = c.applied(p.last.Fields, c.unowned)
	if c.object, err = p.prune(merged); err != nil {
		return nil, fmt.Errorf("failed to prune fields: %w", err)
	}
	c.alone = p.managers.onlyOf(c.Manager)
	if p.losses, err = c.losses(p.managers); err != nil {
		return nil, err
	}
	return p, nil
}

// newPlan returns the plan of an apply with the managers, adapted to the schema. The plan does not
// depend on the configuration yet.
func (c *call) newPlan() (*Plan, error) {
	managers, err := c.reconcile()
	if err != nil {
		return nil, err
	}
	last, _ := managers.Get(c.Manager)
	known, _ := c.Managers.Get(c.Manager) // even if its version is gone
	own := Entry{Manager: c.Manager, APIVersion: c.APIVersion, Time: known.Time}
	return &Plan{call: c, managers: managers, last: last, own: own}, nil
}

// applied returns the fields of the configuration that are neither in unowned nor reset. If they
// equal last, the applier's fields so far, the result is last itself.
func (c *call) applied(last, unowned fieldpath.Set) fieldpath.Set {
	return c.reset[c.APIVersion].keep(typing.FieldsLike(c.Object, last, unowned))
}

// Plan is the outcome of an apply before its conflicts are decided. It is immutable. The nil Plan
// and the zero Plan belong to no apply: they have no conflicts and no decisions, and their result
// is the zero Result.
type Plan struct {
	call      *call
	managers  Managers // adapted to the schema
	last, own Entry    // entries of the applier, before and after the apply
	losses    []loss
	yielded   fieldpath.Set // conflicts on these paths are decided for the applier: see takeOver
}

// changed reports whether the new object, with all conflicts forced, differs from the live object.
func (p *Plan) changed() bool { return !p.call.Live.Content().Equal(p.call.object.Content()) }

// takeOver returns p with the conflicts on the paths of s decided for the applier. These are no
// conflicts any more, see takenOver. The paths are in the versions of the owners.
func (p *Plan) takeOver(s fieldpath.Set) *Plan {
	out := *p
	out.yielded = p.yielded.Union(s)
	return &out
}

// Conflicts returns the fields that the apply changes although other managers own them, sorted by
// manager, then by path. Cost: one [typed.Walk] for each version of the owners.
func (p *Plan) Conflicts() Conflicts {
	all, _ := p.conflicts(math.MaxInt)
	return all
}

// refusal returns the conflicts as an error, [Conflicts] or [*ManyConflicts], or nil if there are
// none.
func (p *Plan) refusal() error {
	switch first, more := p.conflicts(maxElements); {
	case more > 0:
		return &ManyConflicts{first, more}
	case len(first) > 0:
		return first
	}
	return nil
}

// conflicts is Conflicts with a limit for the elements of all paths. more is the number of
// conflicts beyond the limit.
func (p *Plan) conflicts(elements int) (_ Conflicts, more int) {
	if p.isOfNone() {
		return nil, 0
	}
	return p.conflictsOn(p.contested, elements)
}

// isOfNone reports whether p belongs to no apply.
func (p *Plan) isOfNone() bool { return p == nil || p.call == nil }

// takenOver returns the conflicts that takeOver has decided. It costs as much as Conflicts.
func (p *Plan) takenOver() Conflicts {
	if p.yielded.IsEmpty() {
		return nil
	}
	all, _ := p.conflictsOn(p.yielded.Intersect, math.MaxInt)
	return all
}

// contested returns the taken fields that are in conflict.
func (p *Plan) contested(taken fieldpath.Set) fieldpath.Set { return taken.Minus(p.yielded) }

// conflictsOn returns the conflicts on the fields that part selects from the taken fields of each
// version. Once the paths have as many elements as the limit, it only counts conflicts.
func (p *Plan) conflictsOn(part func(taken fieldpath.Set) fieldpath.Set, elements int) (_ Conflicts, more int) {
	all := 0
	for _, l := range p.losses {
		all += l.taken.Len()
	}
	switch {
	case all == 0:
		return nil, 0
	case all <= fewConflicts:
		return p.fewConflictsOn(part), 0
	}
	return p.manyConflictsOn(part, all, elements)
}

// manyConflictsOn is conflictsOn for many fields. all is the number of taken fields.
func (p *Plan) manyConflictsOn(part func(taken fieldpath.Set) fieldpath.Set, all, elements int) (_ Conflicts, more int) {
	// Each loss has room for all fields that it takes. The gaps that part leaves are closed in the
	// end.
	room := make(Conflicts, all)
	found := make([]Conflicts, len(p.losses))
	for i, rest := 0, room; i < len(found); i++ {
		found[i], rest = rest[:0], rest[p.losses[i].taken.Len():]
	}
	var copies slab.Slab[fieldpath.Element]
	for v, in := range p.lossesByVersion() {
		sets := p.taken(in)
		for at := range typed.Walk(part(union(sets)), []typed.Value{v.old, v.new}, sets...) {
			for _, k := range at.Sets {
				if elements -= len(at.Path); elements < 0 {
					more++
					continue
				}
				i, path := in[k], fieldpath.Path(copies.Take(len(at.Path)))
				copy(path, at.Path)
				found[i] = append(found[i], Conflict{Owner: *p.losses[i].entry, Path: path, Live: at.Values[0], Wanted: at.Values[1]})
			}
		}
	}
	out := room[:0]
	for _, conflicts := range found {
		out = append(out, conflicts...)
	}
	if len(out) == 0 {
		return nil, more
	}
	return slices.Clip(out), more
}

// fewConflicts is the largest number of taken fields that are looked up loss by loss.
const fewConflicts = 4

// fewConflictsOn is conflictsOn for few fields. A walk for each loss then costs less than to bring
// the losses together.
func (p *Plan) fewConflictsOn(part func(taken fieldpath.Set) fieldpath.Set) (out Conflicts) {
	for _, l := range p.losses {
		for at := range typed.Walk(part(l.taken), []typed.Value{l.version.old, l.version.new}) {
			out = append(out, Conflict{
				Owner: *l.entry, Path: slices.Clone(at.Path), Live: at.Values[0], Wanted: at.Values[1],
			})
		}
	}
	return out
}

// lossesByVersion yields the numbers of the losses with taken fields, version by version, in the
// order of the call's versions.
func (p *Plan) lossesByVersion() iter.Seq2[*version, []int] {
	return func(yield func(*version, []int) bool) {
		in := map[*version][]int{}
		for i, l := range p.losses {
			if !l.taken.IsEmpty() {
				in[l.version] = append(in[l.version], i)
			}
		}
		for _, v := range p.call.versions {
			if in[v] != nil && !yield(v, in[v]) {
				return
			}
		}
	}
}

// taken returns the taken fields of the losses with the given numbers.
func (p *Plan) taken(losses []int) []fieldpath.Set {
	out := make([]fieldpath.Set, len(losses))
	for k, i := range losses {
		out[k] = p.losses[i].taken
	}
	return out
}

// Force returns the result with all conflicts decided for the applier.
func (p *Plan) Force() Result {
	if p.isOfNone() {
		return Result{}
	}
	out := Result{Managers: settle(p.managers, p.losses, p.own), Changed: p.changed(), Object: p.call.object}
	if !out.Changed {
		out.Object = p.call.Live
	}
	return out
}
