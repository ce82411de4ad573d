package typed

import (
	"slices"
	"sync"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Comparing two values of one type: what is added, modified and removed, as three sets that are
// built while both values are walked once. Of a type in which ports is keyed by port, and args
// atomic:
//
//	old       {args: [-a]  ports: [{port: 80, name: web}]  replicas: 1}
//	new       {args: [-b]  ports: [{port: 443}]            replicas: 1}
//
//	added     .ports[port=443] .ports[port=443].port
//	modified  .args
//	removed   .ports[port=80] .ports[port=80].name .ports[port=80].port
//
// Cost: linear in both values, except for what is the same storage in both, which costs nothing;
// with a factor log n where items are added or removed, as their paths are sorted.

// Diff says where two values of one type differ. A path is in more than one of its sets only where
// an item was there once and is there several times, or the other way round.
type Diff struct {
	Added    fieldpath.Set // only the new value has them
	Modified fieldpath.Set // both have them, with different values
	Removed  fieldpath.Set // only the old value has them
}

// isEmpty reports whether there is no difference.
func (d Diff) isEmpty() bool { return d.Added.IsEmpty() && d.Modified.IsEmpty() && d.Removed.IsEmpty() }

// Compare returns where new differs from old:
//
//	C1  A leaf, that is, a scalar or an atomic list or object, is added, removed, or modified when
//	    the values are not equal.
//	C2  Granular objects and lists are compared member by member and item by item, when at least
//	    one side has something in them. Null, empty, absent and values of another kind are nothing
//	    to descend into. Where both sides are such, the values are leaves: {} and null differ.
//	C3  What only one side has, container or leaf, is added or removed together with everything
//	    below it.
//	C4  Items are paired by identity; their order does not matter.
//	C5  Items of one identity that both sides have several times are modified when their sequences
//	    differ. If one side has the item once or not at all and the other several times, the
//	    single one is added or removed with all below it, the several ones with nothing below.
//	C6  Where a type admits several kinds and the two sides differ in kind, both count: what is
//	    below a container as added or removed, and the node itself by the rules of new's kind.
//	C7  The root itself is never in the result.
//
// The error is [ErrTypes] when the types differ or there are none, or [Errors] when a granular list holds items
// without identity: one whose relationship the schema leaves open, or what [Value.Remove] left of
// others.
func Compare(old, new Value) (Diff, error) {
	if err := checkTypes(old, new); err != nil {
		return Diff{}, err
	}
	if errs := slices.Concat(old.unidentified(), new.unidentified()); errs != nil {
		return Diff{}, errs
	}
	if old.content.Same(new.content) {
		return Diff{}, nil
	}
	c := comparers.Get().(*comparer)
	c.tidy = old.tidy && new.tidy
	c.node(old.typ, old.content, new.content)
	work.Add(work.Counts{Nodes: c.nodes, Pairs: c.pairs})
	out := Diff{c.added.b.Set(), c.modified.b.Set(), c.removed.b.Set()}
	clear(c.path[:cap(c.path)])
	c.path, c.nodes, c.pairs = c.path[:0], 0, 0
	comparers.Put(c)
	return out, nil
}

var comparers = sync.Pool{New: func() any { return new(comparer) }}

// comparer is the state of Compare. It is at one path of both values.
type comparer struct {
	tidy  bool // both values are
	nodes int  // of both values that were visited
	pairs int  // of items that were compared
	texts slab.Text

	path                     fieldpath.Path // to the node that the walk is at
	found                    []itemAt       // items of the lists that are being walked, innermost last
	added, modified, removed side
}

// side builds one of the sets of a Diff. Its builder follows the walk's path lazily: it enters a
// node only when something at or below it is to be added.
type side struct {
	b       fieldpath.Builder
	members []bool // for each node that b is in: whether it is in the set
}

// follow makes the builder enter the nodes of path.
func (s *side) follow(path fieldpath.Path) {
	for _, e := range path[len(s.members):] {
		paths.Enter(&s.b, e)
		s.members = append(s.members, false)
	}
}

// add puts path into the set.
func (s *side) add(path fieldpath.Path) {
	if len(path) > 0 {
		s.follow(path)
		s.members[len(path)-1] = true
	}
}

// leave makes the builder leave the nodes below depth.
func (s *side) leave(depth int) {
	for n := len(s.members); n > depth; n-- {
		paths.Leave(&s.b, s.members[n-1])
		s.members = s.members[:n-1]
	}
}

// below compares two nodes that are one step below the one that the walk is at.
func (c *comparer) below(e fieldpath.Element, t *schema.Type, old, new value.Value) {
	depth := len(c.path)
	c.path = append(c.path, e)
	c.node(t, old, new)
	c.leave(depth)
}

// leave goes back to a depth of the path, from below it.
func (c *comparer) leave(depth int) {
	c.path = c.path[:depth]
	c.added.leave(depth)
	c.modified.leave(depth)
	c.removed.leave(depth)
}

// node compares two values, at most one of which is absent.
func (c *comparer) node(t *schema.Type, old, new value.Value) {
	c.nodes++
	switch {
	case old.Same(new):
		return
	// C3: only one side has it.
	case old.IsAbsent():
		c.whole(&c.added, t, new)
		return
	case new.IsAbsent():
		c.whole(&c.removed, t, old)
		return
	}
	// Both have it. The parts differ where the type admits several kinds and the two are of
	// different ones.
	oldParts, newParts := partsFor(t, old), partsFor(t, new)
	if oldParts != newParts {
		c.part(oldParts.first(), t, old, new) // rule C6
	}
	c.part(newParts.first(), t, old, new)
}

// part compares two values, neither of which is absent, as the given part of their type has it.
func (c *comparer) part(p parts, t *schema.Type, old, new value.Value) {
	switch {
	// C2: a granular object or list, with something in it on one side at least.
	case p == mapPart && !t.Map().Atomic() && !(isNone(old, value.KindObject) && isNone(new, value.KindObject)):
		c.objects(t.Map(), old, new)
	case p == listPart && t.List().Topology() != schema.AtomicList && !(isNone(old, value.KindList) && isNone(new, value.KindList)):
		c.lists(t.List(), old, new)
	// C1: a leaf, or two containers with nothing in them.
	case !old.Equal(new):
		c.modified.add(c.path)
	}
}

// objects compares the members of two objects; anything else than an object has none.
func (c *comparer) objects(m *schema.Map, old, new value.Value) {
	// Both are sorted by name, so one pass pairs the members.
	olds, news := values.Members(old), values.Members(new)
	for len(olds) > 0 && len(news) > 0 {
		a, b := &olds[0], &news[0]
		switch {
		case a.Name == b.Name:
			olds, news = olds[1:], news[1:]
			if !a.Value.Same(b.Value) && !sameScalar(a.Value, b.Value) {
				c.member(m, a.Name, a.Value, b.Value)
			}
		case a.Name < b.Name:
			olds = olds[1:]
			c.member(m, a.Name, a.Value, value.Value{})
		default:
			news = news[1:]
			c.member(m, b.Name, value.Value{}, b.Value)
		}
	}
	for _, a := range olds {
		c.member(m, a.Name, a.Value, value.Value{})
	}
	for _, b := range news {
		c.member(m, b.Name, value.Value{}, b.Value)
	}
}

// member compares the members called name of two objects, either of which may be absent.
func (c *comparer) member(m *schema.Map, name string, old, new value.Value) {
	// A member that the type does not admit has no place in any set of fields.
	if t, _ := m.Lookup(name); t != nil {
		c.below(fieldpath.Field(name), t, old, new)
	}
}

// whole adds the node that the walk is at, and all below it, to s: the other side has nothing here.
func (c *comparer) whole(s *side, t *schema.Type, v value.Value) {
	s.add(c.path)
	c.contents(s, t, v)
}

// contents adds all that is below the node that the walk is at to s.
func (c *comparer) contents(s *side, t *schema.Type, v value.Value) {
	switch partsFor(t, v).first() {
	case mapPart:
		if t.Map().Atomic() || isNone(v, value.KindObject) {
			return
		}
		s.follow(c.path)
		next := 0
		for _, member := range values.Members(v) {
			if mt, _ := schemas.LookupNext(t.Map(), &next, member.Name); mt != nil {
				c.wholeBelow(s, fieldpath.Field(member.Name), mt, member.Value)
			}
		}
	case listPart:
		if t.List().Topology() == schema.AtomicList || isNone(v, value.KindList) {
			return
		}
		s.follow(c.path)
		c.items(s, t.List(), v)
	}
}

// wholeBelow is whole for the node one step below the one that the walk is at.
func (c *comparer) wholeBelow(s *side, e fieldpath.Element, t *schema.Type, v value.Value) {
	if isLeaf(t, v) {
		s.follow(c.path)
		paths.Leaf(&s.b, e)
		return
	}
	depth := len(c.path)
	c.path = append(c.path, e)
	c.whole(s, t, v)
	c.path = c.path[:depth]
	s.leave(depth)
}

// items adds all items of a list to s.
func (c *comparer) items(s *side, l *schema.List, v value.Value) {
	if c.tidy {
		first := len(c.found)
		c.found = appendItems(c.found, &c.texts, l, v, true)
		sortItems(c.found[first:])
		for i := first; i < first+v.Len(); i++ {
			c.wholeBelow(s, c.found[i].element, l.Element(), c.found[i].item)
		}
		clear(c.found[first:])
		c.found = c.found[:first]
		return
	}
	// C5: of an item that is there several times only the path counts, without anything below it.
	for _, g := range c.group(l, v, value.Value{}) {
		if len(g.old) == 1 {
			c.wholeBelow(s, g.element, l.Element(), g.old[0])
		} else {
			c.markBelow(s, g.element)
		}
	}
}

// markBelow adds the path one step below the node that the walk is at to s, without anything below
// it.
func (c *comparer) markBelow(s *side, e fieldpath.Element) {
	depth := len(c.path)
	c.path = append(c.path, e)
	s.add(c.path)
	c.path = c.path[:depth]
	s.leave(depth)
}
