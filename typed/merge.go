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

// A merge of a configuration into a live object. The walk follows the configuration: parts that the
// configuration lacks stay as they are and are not visited. In this example, spec is granular and
// args is atomic:
//
//	live     {spec: {args: [-a, -b]  replicas: 1}  status: {ready: true}}
//	config   {spec: {args: [-c]      paused: null}}
//
//	result   {spec: {args: [-c]  paused: null  replicas: 1}  status: {ready: true}}
//
//	args     M1: a leaf, config's as a whole
//	paused   M1: config alone has it, null included
//	replicas, status                 config lacks them: live's own storage
//
// Cost: linear in config and in the objects and lists of live that config reaches.

// ErrTypes is the error of [Merge] and [Compare] if the two values have different types, or none.
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

// Merge returns live with config laid over it. It removes nothing: package merge prunes fields.
//
//	M1  A leaf is a scalar, an atomic list or an atomic object. If the configuration has a leaf,
//	    null included, the result has that leaf.
//	M2  A granular object or list with members or items counts more than null, an empty or
//	    absent value, or a value of another kind. So null does not clear a granular object. If
//	    neither side has members or items, the configuration counts as in M1. If the type admits
//	    several kinds, the configuration's kind decides.
//	M3  Granular objects merge member by member.
//	M4  Sets and keyed lists merge item by item. The configuration's items keep its order, and
//	    the live object's other items keep theirs. A run of configured items ends with the next
//	    item that the live object has too, its anchor. The run comes after the live object's
//	    other items in front of the anchor. If the live order has passed the anchor already, the
//	    run comes after all remaining other items. A last run without anchor comes after all
//	    live items.
//	M5  If the live object holds an item more than once and the configuration has the item, the
//	    configuration's item replaces all of them. If the configuration lacks it, all stay where
//	    they are.
//
// The result shares with live every node that config does not change, except large leaves, which
// are not compared. The error is [ErrTypes] if the types differ or the values have no type. It is
// [Errors] if a granular list of config holds an item twice, or a granular list of either value
// holds items without identity. These are the items of a list whose relationship the schema leaves
// open, or items that lost their identity in [Value.Remove].
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

// merger is the state of Merge. Its stacks hold the members and items of the containers that are
// being merged. One list after the other uses the scratch of its index.
type merger struct {
	tidy    bool // whether live is tidy
	filled  bool // whether the result is filled: see Value
	nodes   int  // visited pairs of nodes
	members []value.Member
	items   []value.Value
	places  []int32 // for each config item of the lists being merged, the number of its live item
	index   index
}

// release returns m to the pool, without references to the result.
func (m *merger) release() {
	clear(m.members[:cap(m.members)])
	clear(m.items[:cap(m.items)])
	*m = merger{members: m.members[:0], items: m.items[:0], places: m.places[:0], index: index{slots: m.index.slots}}
	mergers.Put(m)
}

// node returns live merged with config, or absent if both are absent. It returns live itself if
// config changes nothing, except in a large leaf.
func (m *merger) node(t *schema.Type, live, config value.Value) value.Value {
	m.nodes++
	switch {
	case config.IsAbsent() || live.Same(config): // config applies nothing, or live itself
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

// leaf returns config, or live if the two are equal and small. Numbers keep config's spelling.
func leaf(live, config value.Value) value.Value {
	budget := leafBudget
	if live.Kind() == config.Kind() && equalWithin(live, config, &budget) {
		return live
	}
	return config
}

// leafBudget is the number of values that leaf compares. If small leaves are shared, the nodes
// around them stay shared. Large leaves are not compared here, because Compare compares them
// anyway.
const leafBudget = 64

// equalWithin reports whether v and w are equal. It deducts their values from budget. Beyond the
// budget, only the same storage counts as equal.
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
	// M2: a side with members or items counts more than a side without. M3 and M4 apply if both have.
	switch liveNone, configNone := isNone(live, k), isNone(config, k); {
	case liveNone && configNone:
		return leaf(live, config)
	case configNone:
		m.filled = m.filled || config.Kind() != value.KindList // an empty list has no fields
		return live
	case liveNone:
		return config
	case k == value.KindObject:
		return m.object(t.Map(), live, config)
	}
	return m.list(t.List(), live, config)
}

// object merges two objects that both have members. It looks up config's members in live, and
// copies live's members only if a member changes.
func (m *merger) object(t *schema.Map, live, config value.Value) value.Value {
	first, changed, l := len(m.members), false, 0
	lives, copied := values.Members(live), 0 // copied: how many members of live m.members covers
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
		// A change: copy live's members in front of this one, and then the new member.
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
