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

// A comparison of two values of one type. One walk of both values builds three sets: added,
// modified and removed fields. In this example, ports is keyed by port, and args is atomic:
//
//	old       {args: [-a]  ports: [{port: 80, name: web}]  replicas: 1}
//	new       {args: [-b]  ports: [{port: 443}]            replicas: 1}
//
//	added     .ports[port=443] .ports[port=443].port
//	modified  .args
//	removed   .ports[port=80] .ports[port=80].name .ports[port=80].port
//
// Cost: linear in both values, except that parts with the same storage in both cost nothing. Added
// and removed items have a factor log n, because their paths are sorted.

// Diff holds the paths where two values of one type differ. A path is in two of the sets only if
// one value has an item once and the other has it several times.
type Diff struct {
	Added    fieldpath.Set // only the new value has them
	Modified fieldpath.Set // both have them, with different values
	Removed  fieldpath.Set // only the old value has them
}

// isEmpty reports whether there is no difference.
func (d Diff) isEmpty() bool { return d.Added.IsEmpty() && d.Modified.IsEmpty() && d.Removed.IsEmpty() }

// Compare returns where new differs from old:
//
//	C1  A leaf is a scalar, an atomic list or an atomic object. It is added, removed, or modified
//	    if the values are not equal.
//	C2  Granular objects and lists are compared member by member and item by item, if at least one
//	    side has members or items. Null, empty, absent and values of another kind have none. If
//	    neither side has any, the values are leaves: {} and null differ.
//	C3  A node that only one side has, container or leaf, is added or removed with everything
//	    below it.
//	C4  Items are paired by identity; their order does not matter.
//	C5  If both sides have several items of one identity, the path of these items is modified when
//	    the sequences differ. If only one side has several, their path alone is added or removed.
//	    A single item on the other side is removed or added with everything below it.
//	C6  If a type admits several kinds and the two sides differ in kind, the rules of both kinds
//	    apply. Members and items below a container are added or removed, and a leaf makes its node
//	    modified.
//	C7  The root itself is never in the result.
//
// The error is [ErrTypes] if the types differ or the values have no type. It is [Errors] if a
// granular list holds items without identity. These are the items of a list whose relationship the
// schema leaves open, or items that lost their identity in [Value.Remove].
func Compare(old, new Value) (Diff, error) { return compareWithout(old, new, fieldpath.Set{}) }

// compareWithout is Compare, but leaves the paths of except out of Added.
func compareWithout(old, new Value, except fieldpath.Set) (Diff, error) {
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
	out := Diff{paths.SetWithout(&c.added.b, except), c.modified.b.Set(), c.removed.b.Set()}
	clear(c.path[:cap(c.path)])
	c.path, c.nodes, c.pairs = c.path[:0], 0, 0
	comparers.Put(c)
	return out, nil
}

var comparers = sync.Pool{New: func() any { return new(comparer) }}

// comparer is the state of Compare. It is at one path of both values.
type comparer struct {
	tidy  bool // whether both values are tidy
	nodes int  // visited nodes of both values
	pairs int  // compared pairs of items
	texts slab.Text

	path                     fieldpath.Path // to the node that the walk is at
	found                    []itemAt       // items of the lists being walked, innermost last
	added, modified, removed side
}

// side builds one of the sets of a Diff. Its builder follows the walk's path lazily: it enters a
// node only when a path at or below the node is added.
type side struct {
	b       fieldpath.Builder
	members []bool // for each node that b has entered: whether it is in the set
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

// below compares two nodes, one step below the current node.
func (c *comparer) below(e fieldpath.Element, t *schema.Type, old, new value.Value) {
	depth := len(c.path)
	c.path = append(c.path, e)
	c.node(t, old, new)
	c.leave(depth)
}

// leave returns to the given depth of the path.
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
	// C3: only one side has the node.
	case old.IsAbsent():
		c.whole(&c.added, t, new)
		return
	case new.IsAbsent():
		c.whole(&c.removed, t, old)
		return
	}
	// Both sides have the node. The parts differ if the type admits several kinds and the values
	// differ in kind.
	oldParts, newParts := partsFor(t, old), partsFor(t, new)
	if oldParts != newParts {
		c.part(oldParts.first(), t, old, new) // rule C6
	}
	c.part(newParts.first(), t, old, new)
}

// part compares two values, neither of which is absent, by the rules of part p of their type.
func (c *comparer) part(p parts, t *schema.Type, old, new value.Value) {
	switch {
	// C2: a granular object or list, with members or items on at least one side.
	case p == mapPart && !t.Map().Atomic() && !(isNone(old, value.KindObject) && isNone(new, value.KindObject)):
		c.objects(t.Map(), old, new)
	case p == listPart && t.List().Topology() != schema.AtomicList && !(isNone(old, value.KindList) && isNone(new, value.KindList)):
		c.lists(t.List(), old, new)
	// C1: a leaf, or two containers without members or items.
	case !old.Equal(new):
		c.modified.add(c.path)
	}
}

// objects compares the members of two objects. A value of another kind has no members.
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

// member compares the members called name of two objects. One of the two members may be absent.
func (c *comparer) member(m *schema.Map, name string, old, new value.Value) {
	// A member that the type does not admit has no place in any set of fields.
	if t, _ := m.Lookup(name); t != nil {
		c.below(fieldpath.Field(name), t, old, new)
	}
}

// whole adds the current node and everything below it to s. The other side does not have the node.
func (c *comparer) whole(s *side, t *schema.Type, v value.Value) {
	s.add(c.path)
	c.contents(s, t, v)
}

// contents adds everything below the node that s is at. From there on, s follows this walk instead
// of the walk's path.
func (c *comparer) contents(s *side, t *schema.Type, v value.Value) {
	switch partsFor(t, v).first() {
	case mapPart:
		if t.Map().Atomic() {
			return
		}
		next := 0
		for _, member := range values.Members(v) {
			if mt, _ := schemas.LookupNext(t.Map(), &next, member.Name); mt != nil {
				c.wholeBelow(s, fieldpath.Field(member.Name), mt, member.Value)
			}
		}
	case listPart:
		if t.List().Topology() != schema.AtomicList && !isNone(v, value.KindList) {
			c.items(s, t.List(), v)
		}
	}
}

// wholeBelow adds the node that e leads to, one step below the node that s is at, and everything
// below it.
func (c *comparer) wholeBelow(s *side, e fieldpath.Element, t *schema.Type, v value.Value) {
	if isLeaf(t, v) {
		paths.Leaf(&s.b, e)
		return
	}
	paths.Enter(&s.b, e)
	c.contents(s, t, v)
	paths.Leave(&s.b, true)
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
	// C5: of duplicate items only the path counts, without anything below it.
	for _, g := range c.group(l, v, value.Value{}) {
		if len(g.old) == 1 {
			c.wholeBelow(s, g.element, l.Element(), g.old[0])
		} else {
			paths.Leaf(&s.b, g.element)
		}
	}
}

// markBelow adds the path one step below the current node to s, without anything below it.
func (c *comparer) markBelow(s *side, e fieldpath.Element) {
	s.follow(c.path)
	paths.Leaf(&s.b, e)
}
