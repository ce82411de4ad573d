package typed

import (
	"iter"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/internal/work"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

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
//	s          .a .a.b .a.c           At each place the children of s are looked up together in each value and each
//	values[0]  {a: {b: 1}}            set. What has nothing there is not asked again below.
//	sets[0]    .a.b
//
//	steps      .a    {b: 1}   -
//	           .a.b  1        sets[0]
//	           .a.c  absent   -
//
// Each list is indexed once, and only if s has items of it. So the cost grows with s, with those
// lists, and with the parts of the other sets that s leads to, each times a logarithm; but not with
// the number of members times anything.
func Walk(s fieldpath.Set, values []Value, sets ...fieldpath.Set) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		if s.IsEmpty() {
			return
		}
		w := walker{yield: yield}
		spots := make([]spot, len(values))
		for i, v := range values {
			spots[i] = spot{typ: v.typ, value: v.content}
		}
		var stands []stand
		for i, other := range sets {
			if !other.IsEmpty() {
				stands = append(stands, stand{i, other})
			}
		}
		w.step.Values = make([]value.Value, len(values))
		w.level(s, spots, stands)
		work.Add(work.Counts{Nodes: w.nodes})
	}
}

// walker is the state of a [Walk]. It is at one path; step.Path and step.Items lead there.
type walker struct {
	yield func(Step) bool
	step  Step
	texts slab.Text
	nodes int // children of the set, items of lists, and entries of other sets that were visited
}

// spot is what a value has at the path of the walk.
type spot struct {
	typ   *schema.Type // nil if the value is [Untyped]
	value value.Value
	item  int // which item of the list around it the value is; -1 when it is no item
}

// stand is what a set has below the path of the walk.
type stand struct {
	number int // of the set
	below  fieldpath.Set
}

// child is one entry of the set that is followed, with what is found there.
type child struct {
	fieldpath.Entry
	spots  []spot
	sets   []int // that have the child itself
	stands []stand
}

// level yields the members one step below the path of the walk, and then those below them. It
// reports false when the walk is to end.
func (w *walker) level(s fieldpath.Set, spots []spot, stands []stand) bool {
	children := newChildren(s, len(spots))
	w.nodes += len(children)
	for i, at := range spots {
		w.locate(children, i, at)
	}
	for _, at := range stands {
		w.find(children, at)
	}
	depth := len(w.step.Path)
	defer func() { w.step.Path, w.step.Items = w.step.Path[:depth], w.step.Items[:depth] }()
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
		if !w.level(c.Sub, c.spots, c.stands) {
			return false
		}
	}
	return true
}

// newChildren returns the entries of s, each with room for what so many values have there.
func newChildren(s fieldpath.Set, values int) []child {
	var out []child
	for e := range s.Entries() {
		out = append(out, child{Entry: e})
	}
	spots := make([]spot, len(out)*values)
	for i := range spots {
		spots[i].item = -1
	}
	for i := range out {
		out[i].spots = spots[i*values : (i+1)*values : (i+1)*values]
	}
	return out
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

func (w *walker) emit(depth int, c *child) bool {
	w.enter(depth, c)
	for i := range c.spots {
		w.step.Values[i] = c.spots[i].value
	}
	w.step.Sets = c.sets
	return w.yield(w.step)
}

// find looks children up in a set. Both are in order, so each entry of the set is searched from the
// one before on.
func (w *walker) find(children []child, at stand) {
	first := 0
	for e := range at.below.Entries() {
		w.nodes++
		i, found := slices.BinarySearchFunc(children[first:], e.Element, func(c child, e fieldpath.Element) int {
			return paths.Compare(c.Element, e)
		})
		first += i
		if first == len(children) {
			return
		}
		if !found {
			continue
		}
		c := &children[first]
		if e.Member {
			c.sets = append(c.sets, at.number)
		}
		if !e.Sub.IsEmpty() && !c.Sub.IsEmpty() {
			c.stands = append(c.stands, stand{at.number, e.Sub})
		}
	}
}

// locate looks children up in value number i of the walk, which is at the given spot.
func (w *walker) locate(children []child, i int, at spot) {
	switch {
	case at.value.IsAbsent():
		return
	case at.typ == nil:
		w.locateUntyped(children, i, at.value)
		return
	}
	fields := 0
	for ; fields < len(children) && children[fields].Element.Kind() == fieldpath.KindField; fields++ {
		if m := at.typ.Map(); m != nil {
			name := children[fields].Element.Name()
			if t, _ := m.Lookup(name); t != nil {
				children[fields].spots[i] = spot{t, at.value.Get(name), -1}
			}
		}
	}
	l := at.typ.List()
	if l == nil || fields == len(children) || at.value.Kind() != value.KindList {
		return
	}
	items := children[fields:]
	for k := range items {
		if n := items[k].Element.Index(); items[k].Element.Kind() == fieldpath.KindIndex && 0 <= n && n < at.value.Len() {
			items[k].spots[i] = spot{l.Element(), at.value.Item(n), n}
		}
	}
	if l.Topology() == schema.SetList || l.Topology() == schema.KeyedList {
		w.locateItems(items, i, l, at.value)
	}
}

// locateItems finds the first item of the list v for each of children that has one.
func (w *walker) locateItems(children []child, i int, l *schema.List, v value.Value) {
	w.nodes += v.Len()
	for n := range v.Len() {
		item := v.Item(n)
		if defect(l, item) != "" {
			continue
		}
		k, found := slices.BinarySearchFunc(children, elementOf(&w.texts, l, item), func(c child, e fieldpath.Element) int {
			return paths.Compare(c.Element, e)
		})
		if found && children[k].spots[i].item < 0 {
			children[k].spots[i] = spot{l.Element(), item, n}
		}
	}
}
