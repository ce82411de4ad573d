package typed

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Merging a configuration into a live object. The walk follows the configuration: what that lacks
// stays as it is, and is not even looked at. Of a type in which spec is granular and args atomic:
//
//	live     {spec: {args: [-a, -b]  replicas: 1}  status: {ready: true}}
//	config   {spec: {args: [-c]      paused: null}}
//
//	result   {spec: {args: [-c]  paused: null  replicas: 1}  status: {ready: true}}
//
//	args     M1: a leaf, config's as a whole
//	paused   M1: config alone has it, null included
//	replicas, status                 config says nothing: live's own storage
//
// Cost: linear in config and in those objects and lists of live that it reaches.

// ErrTypes is returned when two values that have different types, or none, are to be merged or
// compared.
var ErrTypes = errors.New("expected objects of the same type")

// checkTypes returns [ErrTypes] unless v and w have the same type.
func checkTypes(v, w Value) error {
	switch {
	case v.typ != w.typ:
		return ErrTypes
	case v.typ == nil:
		return fmt.Errorf("%w: they have no type", ErrTypes)
	}
	return nil
}

// Merge returns live with config laid over it. Nothing is removed: who wants fields gone prunes
// them, see package merge.
//
//	M1  A leaf, that is, a scalar or an atomic list or object, becomes config's where config has
//	    it, null included.
//	M2  Where one of the two is null, empty, absent or of another kind, while the other is a
//	    granular object or list with something in it, the latter counts: so null does not clear a
//	    granular object. Where both are, config's counts as in M1. Should the type admit several
//	    kinds, config's kind decides.
//	M3  Granular objects merge member by member.
//	M4  Sets and keyed lists merge item by item. Config's items keep config's order, and live's
//	    other items keep live's order among each other: each run of config's items up to and
//	    including the next one that live has too (the anchor) is preceded by the live items in
//	    front of the anchor that are not yet there; if the anchor has been passed already, by all
//	    that are left. A last run without anchor comes after all live items.
//	M5  An item that live holds more than once becomes config's item where config has it, else all
//	    stay where they are.
//
// The result shares every node that config does not change with live, except that it does not look
// far into leaves. It is an error, [Errors], when config holds an item twice in a granular list, or
// either holds items without identity in a granular list: those of a list whose relationship the
// schema leaves open, or what [Value.Remove] left of others; and [ErrTypes] when the types differ, or
// there are none.
func Merge(live, config Value) (Value, error) {
	if err := checkTypes(live, config); err != nil {
		return Value{}, err
	}
	if errs := outermost(slices.Concat(config.unmergeable(true), live.unmergeable(false))); errs != nil {
		return Value{}, errs
	}
	m := mergers.Get().(*merger)
	m.tidy = live.tidy
	out := Value{content: m.node(live.typ, live.content, config.content), typ: live.typ, filled: m.filled, tidy: live.tidy && config.tidy}
	work.Add(work.Counts{Nodes: m.nodes, Pairs: m.index.pairs})
	m.release()
	return out, nil
}

var mergers = sync.Pool{New: func() any { return new(merger) }}

// merger is the state of Merge. Members and items of what is being merged wait on its stacks, and
// the scratch of its indexes serves one list after the other.
type merger struct {
	tidy    bool // live is
	filled  bool // the result is to be
	nodes   int  // pairs that were visited
	members []value.Member
	items   []value.Value
	places  []int32 // of the items of open lists: which of live's items they are
	index   index
}

// release gives m back, without what belongs to the result.
func (m *merger) release() {
	clear(m.members[:cap(m.members)])
	clear(m.items[:cap(m.items)])
	*m = merger{members: m.members[:0], items: m.items[:0], places: m.places[:0], index: index{slots: m.index.slots}}
	mergers.Put(m)
}

// node returns live merged with config, absent when both are. It returns live itself when config
// changes nothing.
func (m *merger) node(t *schema.Type, live, config value.Value) value.Value {
	m.nodes++
	switch {
	case config.IsAbsent() || live.Same(config): // nothing is applied here, or what is there
		return live
	case live.IsAbsent(): // config alone has it
		return config
	}
	switch partsFor(t, config).first() {
	case mapPart:
		if !t.Map().Atomic() {
			return m.granular(t, value.KindObject, live, config)
		}
	case listPart:
		if t.List().Topology() != schema.AtomicList {
			return m.granular(t, value.KindList, live, config)
		}
	}
	return leaf(live, config) // M1
}

// leaf returns config, by way of live where the two are plainly equal. Numbers keep config's
// spelling.
func leaf(live, config value.Value) value.Value {
	budget := leafBudget
	if live.Kind() == config.Kind() && equalWithin(live, config, &budget) {
		return live
	}
	return config
}

// leafBudget is how many values leaf compares. Sharing small leaves keeps what is around them
// shared. Large ones are not worth a look: whoever wants to know what changed compares them, and
// that once is enough.
const leafBudget = 64

// equalWithin reports whether v and w are equal and hold no more values than budget, which it uses
// up.
func equalWithin(v, w value.Value, budget *int) bool {
	kind, n := v.Kind(), v.Len()
	if *budget -= n; *budget < 0 || kind != w.Kind() || n != w.Len() {
		return v.Same(w)
	}
	switch kind {
	case value.KindObject:
		others := values.Members(w)
		for i, a := range values.Members(v) {
			b := &others[i]
			if a.Name != b.Name || !equalWithin(a.Value, b.Value, budget) {
				return false
			}
		}
		return true
	case value.KindList:
		others := values.Items(w)
		for i, item := range values.Items(v) {
			if !equalWithin(item, others[i], budget) {
				return false
			}
		}
		return true
	}
	return v.Equal(w)
}

// granular merges two values of which at least one may be a container of kind k.
func (m *merger) granular(t *schema.Type, k value.Kind, live, config value.Value) value.Value {
	// M2: what has something in it counts before what has not; M3 and M4 if both have.
	switch liveNone, configNone := isNone(live, k), isNone(config, k); {
	case liveNone && configNone:
		return leaf(live, config)
	case configNone:
		m.filled = m.filled || config.Kind() != value.KindList // an empty list owns nothing
		return live
	case liveNone:
		return config
	case k == value.KindObject:
		return m.object(t.Map(), live, config)
	}
	return m.list(t.List(), live, config)
}

// object merges two objects that both have members. It looks for config's members in live, and
// copies live's members only from the first one that changes on.
func (m *merger) object(t *schema.Map, live, config value.Value) value.Value {
	first, changed, l := len(m.members), false, 0
	lives, copied := values.Members(live), 0 // copied: how many are in m.members already, once there is a change
	for _, own := range values.Members(config) {
		for l < len(lives) && lives[l].Name != own.Name && lives[l].Name < own.Name {
			l++
		}
		merged, known := own.Value, l < len(lives) && lives[l].Name == own.Name
		if known {
			there := lives[l].Value
			if sameScalar(there, own.Value) {
				continue
			}
			child, _ := t.Lookup(own.Name)
			if merged = m.node(child, there, own.Value); merged.Same(there) {
				continue
			}
		}
		// From the first change on, what live has in front of this member is copied, and then the
		// new one.
		changed = true
		m.members = append(m.members, lives[copied:l]...)
		m.members = append(m.members, value.Member{Name: own.Name, Value: merged})
		if copied = l; known {
			copied++
		}
	}
	if !changed {
		return live
	}
	m.members = append(m.members, lives[copied:]...)
	out := values.Sorted(slices.Clone(m.members[first:]))
	m.members = m.members[:first]
	return out
}
