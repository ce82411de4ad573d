package typed

import (
	"iter"
	"slices"
	"sync"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// A walk follows a set in step with values and other sets. Separate lookups would search every
// object and list from its beginning for each path. A walk descends the tree of the set instead,
// and looks up all children of a node together:
//
//	children of the set     a   c   f        looked up in order
//	members of a value      a b c d e        one lookup each, by name
//	entries of another set    b c     f g    each searched among the children after the last match

// Step is the result of a [Walk] for one member of the set. The walk reuses the slices of a Step:
// they are valid until the next step, and must not be modified.
type Step struct {
	Path   fieldpath.Path // path of the member
	Values []value.Value  // for each value of the walk, the value at Path, or absent
	Sets   []int          // numbers of the walk's sets that have Path as a member, ascending

	// Items holds, for each element of Path, the number of the list item that it selects in the first
	// value. It is -1 for a field, and for all elements from the first one that the value does not
	// have.
	Items []int
}

// Walk follows the set s in step with values and other sets. It yields one [Step] for each member
// of s, in the order of [fieldpath.Set.All]. A step holds the results of a lookup in each value and
// of [fieldpath.Set.Has] on each set. But Walk visits each node once:
//
//	s          .a .a.b .a.c
//	values[0]  {a: {b: 1}}
//	sets[0]    .a.b
//
//	steps      .a    {b: 1}   -
//	           .a.b  1        sets[0]
//	           .a.c  absent   -
//
// At each node, Walk looks up the children of s together in each value and each set. It does not
// search a value or set below a node that the value or set lacks. It passes each list once, and
// only if s has items of the list. It follows a set that is given several times once, and s itself
// not at all.
//
// Cost: linear in s, in those lists, and in the parts of the other sets that s leads to. Each term
// has a factor log d, where d is how far an entry is out of step with s. No term is multiplied by
// the number of members.
func Walk(s fieldpath.Set, values []Value, sets ...fieldpath.Set) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if s.IsEmpty() {
			return
		}
		w := walkers.Get().(*walker)
		defer w.release()
		w.yield = yield
		w.spots = w.room(len(values))
		for i, v := range values {
			w.spots[i] = spot{typ: v.typ, value: v.content}
		}
		w.level(s, w.spots, w.group(s, sets))
		work.Add(work.Counts{Nodes: w.nodes, Pairs: w.pairs})
	}
}

var walkers = sync.Pool{New: func() any { return new(walker) }}

// maxKept is the largest capacity of a stack that is kept for another walk.
const maxKept = 1 << 10

// walker is the state of a [Walk]. step.Path and step.Items lead to the current node.
type walker struct {
	yield func(Step) bool
	step  Step
	texts slab.Text
	nodes int // visited children of the set, items of lists, and entries of other sets
	pairs int // compared pairs of elements

	whole  []int   // numbers of the sets that are the same as the followed set
	groups [][]int // numbers of the other sets, one group for each distinct set

	// Stacks of the levels that the walk is in, the innermost level last.
	children []child
	spots    []spot  // of the children
	stands   []stand // at the children
}

// room returns the stack of spots with one spot for each value, and gives step as many values.
func (w *walker) room(values int) []spot {
	w.step.Values = append(w.step.Values[:0], make([]value.Value, values)...)
	return append(w.spots[:0], make([]spot, values)...)
}

// release returns w to the pool, without references to results. Each level has already cleared its
// own part of the stacks.
func (w *walker) release() {
	clear(w.step.Path[:cap(w.step.Path)])
	clear(w.step.Values)
	clear(w.spots)
	clear(w.stands)
	w.yield, w.nodes, w.pairs, w.groups = nil, 0, 0, nil
	w.step = Step{
		Path: slab.Kept(w.step.Path, maxKept), Values: slab.Kept(w.step.Values, maxKept),
		Sets: slab.Kept(w.step.Sets, maxKept), Items: slab.Kept(w.step.Items, maxKept),
	}
	w.whole, w.children = slab.Kept(w.whole, maxKept), slab.Kept(w.children, maxKept)
	w.spots, w.stands = slab.Kept(w.spots, maxKept), slab.Kept(w.stands, maxKept)
	walkers.Put(w)
}

// group puts the same sets into one group, and pushes one stand for each group. It returns the
// place of the first of these stands. It leaves out empty sets, and sets that are the same as s.
func (w *walker) group(s fieldpath.Set, sets []fieldpath.Set) (first int) {
	var known map[any]int // number of the group of each set
	first = none
	for i, set := range sets {
		switch {
		case set.IsEmpty():
			continue
		case paths.Same(set, s):
			w.whole = append(w.whole, i)
			continue
		}
		g, ok := known[paths.Storage(set)]
		if !ok {
			if known == nil {
				known = map[any]int{}
			}
			g = len(w.groups)
			known[paths.Storage(set)] = g
			w.groups = append(w.groups, nil)
			first = w.stand(stand{group: g, below: set, next: first})
		}
		w.groups[g] = append(w.groups[g], i)
	}
	return first
}

// spot is the part of one value at the path of the walk.
type spot struct {
	typ   *schema.Type // nil if the value is [Untyped]
	value value.Value
	item  int // number of the value in the list around it; -1 if it is not an item
}

// stand is the part of one of the other sets at a path.
type stand struct {
	group  int           // group of the set
	member bool          // whether the path is a member of the set
	below  fieldpath.Set // members below the path
	next   int           // place in walker.stands of the next stand at the same path, or none
}

// none marks the end of a chain of stands.
const none = -1

// stand pushes s and returns its place.
func (w *walker) stand(s stand) (place int) {
	w.stands = append(w.stands, s)
	return len(w.stands) - 1
}

// child is one entry of the followed set, with the parts of the values and sets at its path.
type child struct {
	fieldpath.Entry
	spots []spot
	first int // place in walker.stands of the first stand at the entry, or none
}

// level yields the members one step below the path of the walk, and then the members below them. It
// returns false if the walk must end. spots, and the stands from first on, are the parts at the
// path.
func (w *walker) level(s fieldpath.Set, spots []spot, first int) bool {
	depth, below, at, others := len(w.step.Path), len(w.children), len(w.spots), len(w.stands)
	defer func() {
		w.step.Path, w.step.Items = w.step.Path[:depth], w.step.Items[:depth]
		clear(w.children[below:])
		clear(w.spots[at:])
		clear(w.stands[others:])
		w.children, w.spots, w.stands = w.children[:below], w.spots[:at], w.stands[:others]
	}()
	children := w.push(s, len(spots))
	w.nodes += len(children)
	for i, at := range spots {
		w.locate(children, i, at)
	}
	for i := first; i != none; i = w.stands[i].next {
		w.find(children, w.stands[i])
	}
	for i := range children {
		if c := &children[i]; c.Member && !w.emit(depth, c) {
			return false
		}
	}
	for i := range children {
		c := &children[i]
		if c.Sub.IsEmpty() {
			continue
		}
		w.enter(depth, c)
		if !w.level(c.Sub, c.spots, c.first) {
			return false
		}
	}
	return true
}

// push pushes the entries of s, each with one spot for each value, and returns them.
func (w *walker) push(s fieldpath.Set, values int) []child {
	start := len(w.children)
	w.children = slices.Grow(w.children, paths.Width(s))
	for e := range s.Entries() {
		w.children = append(w.children, child{Entry: e, first: none})
	}
	children := w.children[start:]
	w.spots = slices.Grow(w.spots, len(children)*values)
	for i := range children {
		at := len(w.spots)
		for range values {
			w.spots = append(w.spots, spot{item: -1})
		}
		children[i].spots = w.spots[at:len(w.spots):len(w.spots)]
	}
	return children
}

// enter moves the walk to c, one step below a path of the given depth.
func (w *walker) enter(depth int, c *child) {
	item := -1
	if len(c.spots) > 0 {
		item = c.spots[0].item
	}
	w.step.Path = append(w.step.Path[:depth], c.Element)
	w.step.Items = append(w.step.Items[:depth], item)
}

// emit yields c, one step below a path of the given depth, with the sets that have it as a member.
// It returns false if the walk must end.
func (w *walker) emit(depth int, c *child) bool {
	w.enter(depth, c)
	for i := range c.spots {
		w.step.Values[i] = c.spots[i].value
	}
	w.step.Sets = append(w.step.Sets[:0], w.whole...)
	for i := c.first; i != none; i = w.stands[i].next {
		if at := &w.stands[i]; at.member {
			w.step.Sets = append(w.step.Sets, w.groups[at.group]...)
		}
	}
	slices.Sort(w.step.Sets)
	return w.yield(w.step)
}
