package merge

import (
	"fmt"
	"math"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/typed"
)

// Applying: the merge, what is pruned, and who owns what afterwards. An apply of ann, who owned
// .replicas and .paused, and now applies the first with another value, while bob owns it as well:
//
//	live      {replicas: 1, paused: true}     ann: .paused .replicas    bob: .replicas
//	config    {replicas: 2}
//
//	merged    {replicas: 2, paused: true}     A1
//	pruned    {replicas: 2}                   A3: ann alone owned .paused, and gives it up
//	losses    bob: .replicas                  A6: a conflict
//	forced    ann: .replicas                  A7: bob owns nothing any more, and is dropped by O4

// Apply lays a configuration over the live object, by these rules:
//
//	O1  Sets are adapted to the schema first, by R1 to R3. Managers of versions that are gone lose
//	    what they own.
//	A1  The configuration is merged into the live object, see [typed.Merge].
//	A2  The applier owns exactly the fields of its configuration, see [typed.Value.Fields].
//	A3  What it applied last time, does not apply now, and nobody else owns, is pruned.
//	A4  What it applied last time, does not apply now, and somebody else owns, stays and is no
//	    longer the applier's. So does what stands below it that the applier never owned, unless it
//	    goes with a pruned item or object.
//	A5  Applying the value that a field has makes the applier a co-owner of it.
//	A6  Changing or adding a field that somebody else owns is a conflict. Only the very path
//	    counts, not what is above or below it, and removing is none.
//	A7  When the conflict is forced, the other owner loses the field.
//	O2  Everybody loses what is removed.
//	O3  Reset fields change no ownership.
//	O4  Who owns nothing any more is dropped.
//
// Nothing is decided yet: see [Plan]. Errors are those of typed.Merge, typed.Compare and of the
// converter.
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

// newPlan returns the plan of an apply that knows the managers, adapted to the schema, and nothing of the configuration.
func (c *call) newPlan() (*Plan, error) {
	managers, err := c.reconcile()
	if err != nil {
		return nil, err
	}
	last, _ := managers.Get(c.Manager)
	known, _ := c.Managers.Get(c.Manager) // even if it is of a version that is gone
	own := Entry{Manager: c.Manager, APIVersion: c.APIVersion, Time: known.Time}
	return &Plan{call: c, managers: managers, last: last, own: own}, nil
}

// applied returns the fields of the configuration that are neither in unowned nor reset. Where
// these are the ones that the applier has already, last, the result is that very set.
func (c *call) applied(last, unowned fieldpath.Set) fieldpath.Set {
	return c.reset[c.APIVersion].keep(typing.FieldsLike(c.Object, last, unowned))
}

// Plan is the outcome of an apply before anybody has decided about its conflicts. It is immutable.
// The nil Plan and the zero Plan are of no apply: they have neither conflicts nor decisions, and their
// result is the zero Result.
type Plan struct {
	call      *call
	managers  Managers // adapted to the schema
	last, own Entry    // of the applier: before and after
	losses    []loss
	yielded   fieldpath.Set // conflicts on these paths are decided for the applier: see takeOver
}

// changed reports whether the object as it will be, conflicts forced, differs from the live one.
func (p *Plan) changed() bool { return !p.call.Live.Content().Equal(p.call.object.Content()) }

// takeOver returns p with its conflicts on the paths of s decided for the applier: they are no
// conflicts any more, see takenOver. A path counts as the owner's version has it.
func (p *Plan) takeOver(s fieldpath.Set) *Plan {
	out := *p
	out.yielded = p.yielded.Union(s)
	return &out
}

// Conflicts returns the fields that the apply changes although others own them, sorted by manager,
// then by path. It costs one [typed.Walk] for each version that owners are of.
func (p *Plan) Conflicts() Conflicts {
	all, _ := p.conflicts(math.MaxInt)
	return all
}

// refusal returns the conflicts as an error, nil if there are none: [Conflicts] or [ManyConflicts].
func (p *Plan) refusal() error {
	switch first, more := p.conflicts(maxElements); {
	case more > 0:
		return &ManyConflicts{first, more}
	case len(first) > 0:
		return first
	}
	return nil
}

// conflicts is Conflicts up to so many elements of paths. It returns how many conflicts are beyond.
func (p *Plan) conflicts(elements int) (_ Conflicts, more int) {
	if p.isOfNone() {
		return nil, 0
	}
	return p.conflictsOn(p.contested, elements)
}

// isOfNone reports whether p is of no apply.
func (p *Plan) isOfNone() bool { return p == nil || p.call == nil }

// takenOver returns what would be conflicts, had takeOver not decided them. It costs what
// Conflicts costs.
func (p *Plan) takenOver() Conflicts {
	if p.yielded.IsEmpty() {
		return nil
	}
	all, _ := p.conflictsOn(p.yielded.Intersect, math.MaxInt)
	return all
}

// contested returns what is in conflict of the fields that somebody loses.
func (p *Plan) contested(taken fieldpath.Set) fieldpath.Set { return taken.Minus(p.yielded) }

// conflictsOn returns the conflicts on those of the taken fields of each version that part returns. When
// their paths have so many elements, it only counts how many more there are.
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

// manyConflictsOn is conflictsOn for all fields that are taken, so many.
func (p *Plan) manyConflictsOn(part func(taken fieldpath.Set) fieldpath.Set, all, elements int) (_ Conflicts, more int) {
	// Each loss has room for all that it takes, one behind the other; what part leaves out is
	// closed up in the end.
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

// fewConflicts is up to how many taken fields are looked up loss by loss.
const fewConflicts = 4

// fewConflictsOn is conflictsOn for few fields, where to bring losses together costs more than a walk
// for each.
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

// lossesByVersion returns which losses of something that is taken are in which version.
func (p *Plan) lossesByVersion() map[*version][]int {
	out := map[*version][]int{}
	for i, l := range p.losses {
		if !l.taken.IsEmpty() {
			out[l.version] = append(out[l.version], i)
		}
	}
	return out
}

// taken returns what is taken by each of the losses that have these numbers.
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
