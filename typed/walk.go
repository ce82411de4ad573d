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

// Walking a set in step with values and other sets. Whoever has a set of paths and asks of each
// what is there, would search every object and list from its beginning for each path; a walk goes
// down the tree of the set, and at each place asks about all children together:
//
//	children of the set     a   c   f        looked up in order
//	members of a value      a b c d e        one lookup each, by name
//	entries of another set    b c     f g    each searched among the children behind the last one

// Step is what a [Walk] finds for one member of the set that it follows. Its slices are those of
// the walk: they hold until the next step, and must not be modified.
type Step struct {
	Path   fieldpath.Path // of the member
	Values []value.Value  // what each of the walk's values has at Path: absent when it has nothing there
	Sets   []int          // which of the walk's sets have Path as a member, by their numbers, ascending

	// Items says, for each element of Path that selects an item of a list, which item of the first
	// value that is. It is -1 for fields, and from the first element on that the first value has
	// nothing at.
	Items []int
}

// Walk follows the set s through values and other sets at once, and yields one [Step] for each
// member of s, in the order of [fieldpath.Set.All]. It answers what a lookup of the path and
// [fieldpath.Set.Has] would answer for each member, but goes to each place once:
//
//	s          .a .a.b .a.c
//	values[0]  {a: {b: 1}}
//	sets[0]    .a.b
//
//	steps      .a    {b: 1}   -
//	           .a.b  1        sets[0]
//	           .a.c  absent   -
//
// At each place the children of s are looked up together in each value and each set; what has nothing
// there is not asked again below. Each list is indexed once, and only if s has items of it. A set that is given several times is
// followed once, and s itself not at all. So the cost grows with s, with those lists, and with the
// parts of the other sets that s leads to, each times a logarithm of how far one is out of step
// with s; but not with the number of members times anything.
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

// maxKept is how many elements a stack has at most that waits for another walk.
const maxKept = 1 << 10

// walker is the state of a [Walk]. It is at one path; step.Path and step.Items lead there.
type walker struct {
	yield func(Step) bool
	step  Step
	texts slab.Text
	nodes int // children of the set, items of lists, and entries of other sets that were visited
	pairs int // of elements that were compared

	whole  []int   // numbers of the sets that are the one that is followed
	groups [][]int // numbers of the others: those that are the same set together

	// Stacks: of the levels that the walk is in, the innermost one last.
	children []child
	spots    []spot  // of the children
	stands   []stand // at the children
}

// room returns the stack of spots with so many on it, and makes the step have as many values.
func (w *walker) room(values int) []spot {
	w.step.Values = append(w.step.Values[:0], make([]value.Value, values)...)
	return append(w.spots[:0], make([]spot, values)...)
}

// release gives w back, without what it found. Of the levels, each has cleared its own part of the
// stacks.
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

// group puts the sets that are the same together, and returns what there is to follow beside s: one
// of each group.
func (w *walker) group(s fieldpath.Set, sets []fieldpath.Set) (first int) {
	var known map[any]int // groups by their set
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

// spot is what a value has at the path of the walk.
type spot struct {
	typ   *schema.Type // nil if the value is [Untyped]
	value value.Value
	item  int // which item of the list around it the value is; -1 when it is no item
}

// stand is what one of the other sets has at a path.
type stand struct {
	group  int           // that the set is of
	member bool          // the path is a member of it
	below  fieldpath.Set // the path
	next   int           // what another set has at the same path, by its place in walker.stands; none if that was the last
}

// none is no place in walker.stands.
const none = -1

// stand pushes s and returns its place.
func (w *walker) stand(s stand) (place int) {
	w.stands = append(w.stands, s)
	return len(w.stands) - 1
}

// child is one entry of the set that is followed, with what is found there.
type child struct {
	fieldpath.Entry
	spots []spot
	first int // the first of what the other sets have there, by its place in walker.stands; none if they have nothing
}

// level yields the members one step below the path of the walk, and then those below them. It
// reports false when the walk is to end. spots, and the stands from first on, are what is found at
// the path.
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

// push pushes the entries of s, each with room for what so many values have there, and returns them.
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

// enter moves the walk to c, one step below a path of this depth.
func (w *walker) enter(depth int, c *child) {
	item := -1
	if len(c.spots) > 0 {
		item = c.spots[0].item
	}
	w.step.Path = append(w.step.Path[:depth], c.Element)
	w.step.Items = append(w.step.Items[:depth], item)
}

// emit yields c, one step below a path of this depth, with the sets that have it. It reports false
// when the walk is to end.
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
