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

// The fields of a value. In this example, spec declares replicas, ports, keyed by port, and
// selector, which admits any member:
//
//	v        {spec: {replicas: 3, selector: {app: web}, ports: [{port: 80}]}}
//
//	result   .spec.replicas           F1: a leaf
//	         .spec.selector.app       F1: a leaf; by F2, .spec.selector is not in the set
//	         .spec.ports[port=80]     F3: each item, but not the list
//	         .spec.ports[port=80].port
//	not      .spec                    F2: spec is declared, and neither a leaf nor empty
//
// Cost: linear in v, with a factor log n for the items of lists, whose paths are sorted.

// Fields returns the paths that a manager owns after it applies v:
//
//	F1  Scalars, atomic lists and atomic objects are leaves, whatever they hold. The path of a
//	    leaf is in the set, and no path below it.
//	F2  A member of a granular object is in the set if it is a leaf, null or an empty object. A
//	    member that the object's type does not declare as a field is always in the set. The same
//	    rules apply below the member.
//	F3  Each item of a set or keyed list is in the set. The same rules apply below the item. A
//	    granular list itself is not in the set, so an empty list has no owner.
//	F4  An item that a list holds more than once is in the set once, without any path below it.
//	F5  The root is never in the set.
func (v Value) Fields() fieldpath.Set {
	f := newFielder(v)
	f.emit(v)
	return f.set()
}

// namedFields returns v.Fields() and each declared field that has paths of v.Fields() below it, see
// withNamedFields. By F2 and F3, all other paths with paths below them are in v.Fields() already.
func (v Value) namedFields() fieldpath.Set {
	f := newFielder(v)
	f.emit(v)
	paths.IncludeAll(&f.b)
	return f.set()
}

// fieldsLike returns v.Fields().Minus(except). If that set equals known, fieldsLike returns known
// itself and allocates no memory.
func (v Value) fieldsLike(known, except fieldpath.Set) fieldpath.Set {
	f := newFielder(v)
	paths.Expect(&f.b, known)
	f.except = except
	f.emit(v)
	f.except = fieldpath.Set{}
	return f.set()
}

var fielders = sync.Pool{New: func() any { return new(fielder) }}

// fielder emits the fields of one value. Siblings are in ascending order, so the builder only
// appends.
type fielder struct {
	b      fieldpath.Builder
	texts  slab.Text
	tidy   bool
	except fieldpath.Set // paths to leave out, relative to the value that is walked
	nodes  int           // number of visited nodes
	items  []itemAt      // items of the lists being walked, innermost last
}

// newFielder returns a fielder for v. The caller must call set at the end, which returns the
// fielder to the pool.
func newFielder(v Value) *fielder {
	f := fielders.Get().(*fielder)
	f.tidy = v.tidy
	return f
}

// emit emits the fields of v.
func (f *fielder) emit(v Value) {
	if v.typ != nil && !isLeaf(v.typ, v.content) {
		f.below(v.typ, v.content)
	}
	work.Add(work.Counts{Nodes: f.nodes})
	f.nodes = 0
}

// set returns the set of the emitted fields, and returns f to the pool.
func (f *fielder) set() fieldpath.Set {
	out := f.b.Set()
	fielders.Put(f)
	return out
}

// itemAt is an item of a list with its element.
type itemAt struct {
	element fieldpath.Element
	item    value.Value
}

// isLeaf reports whether v, a value of type t, is a leaf.
func isLeaf(t *schema.Type, v value.Value) bool {
	if kind := v.Kind(); kind > value.KindNull && kind < value.KindList && t.Scalar() != schema.None {
		return true // a shortcut for the scalar part: most values are scalars
	}
	switch partsFor(t, v).first() {
	case mapPart:
		return t.Map().Atomic()
	case listPart:
		return t.List().Topology() == schema.AtomicList
	case scalarPart:
		return true
	}
	return false
}

// below emits the fields below v, which is not a leaf.
func (f *fielder) below(t *schema.Type, v value.Value) {
	f.nodes++
	switch partsFor(t, v).first() {
	case mapPart:
		f.object(t.Map(), v)
	case listPart:
		f.list(t.List(), v)
	}
}

// object emits the fields below an object, member by member. Values and sets have the same order.
func (f *fielder) object(m *schema.Map, v value.Value) {
	all, next := f.except.IsEmpty(), 0
	for _, member := range values.Members(v) {
		t, declared := schemas.LookupNext(m, &next, member.Name)
		if t == nil {
			continue
		}
		if !all {
			f.node(fieldpath.Field(member.Name), !declared || isNothing(member.Value), t, member.Value)
			continue
		}
		if isLeaf(t, member.Value) { // the rest does the same as node, without a call for each member
			paths.Leaf(&f.b, fieldpath.Field(member.Name))
			continue
		}
		paths.Enter(&f.b, fieldpath.Field(member.Name))
		f.below(t, member.Value)
		paths.Leave(&f.b, !declared || isNothing(member.Value))
	}
}

// isNothing reports whether v is null or {}. By F2, the path of such a value is in the set, even if
// the value is a granular object.
func isNothing(v value.Value) bool { return v.IsNull() || isEmptyObject(v) }

// isEmptyObject reports whether v is {}.
func isEmptyObject(v value.Value) bool { return v.Kind() == value.KindObject && v.Len() == 0 }

// node emits the element e of v, a value of type t, and the fields below v, except the paths of
// f.except. A leaf is always a member of the set; for other values, member decides.
func (f *fielder) node(e fieldpath.Element, member bool, t *schema.Type, v value.Value) {
	if isLeaf(t, v) {
		f.leaf(e)
		return
	}
	paths.Enter(&f.b, e)
	if f.except.IsEmpty() {
		f.below(t, v)
		paths.Leave(&f.b, member)
		return
	}
	outer := f.except
	excepted, below := outer.Get(e)
	f.except = below
	f.below(t, v)
	f.except = outer
	paths.Leave(&f.b, member && !excepted)
}

// leaf emits the element e alone, unless f.except has it.
func (f *fielder) leaf(e fieldpath.Element) {
	if excepted, _ := f.except.Get(e); !excepted {
		paths.Leaf(&f.b, e)
	}
}

// list emits the items of a granular list, in the order of their elements. All items without
// identity share the zero element. By F4, an item with duplicates is a leaf.
func (f *fielder) list(l *schema.List, v value.Value) {
	if v.Kind() != value.KindList {
		return
	}
	first := len(f.items)
	f.items = appendItems(f.items, &f.texts, l, v, f.tidy)
	if len(f.items)-first < v.Len() {
		f.leaf(fieldpath.Element{})
	}
	sortItems(f.items[first:])
	for i := first; i < len(f.items); {
		// n is the number of items with the element of this one. Equal elements are neighbours.
		at, n := f.items[i], 1
		for !f.tidy && i+n < len(f.items) && f.items[i+n].element == at.element {
			n++
		}
		// F4: the item has duplicates.
		if n > 1 {
			f.leaf(at.element)
		} else {
			f.node(at.element, true, l.Element(), at.item)
		}
		i += n
	}
	clear(f.items[first:])
	f.items = f.items[:first]
}

// appendItems appends the items of v with their elements. It leaves out items without identity,
// which only a list that is not tidy has.
func appendItems(to []itemAt, m *slab.Text, l *schema.List, v value.Value, tidy bool) []itemAt {
	for _, item := range values.Items(v) {
		if tidy || defect(l, item) == "" {
			to = append(to, itemAt{elementOf(m, l, item), item})
		}
	}
	return to
}

// sortItems sorts items by element. The sort is stable.
func sortItems(items []itemAt) {
	compare := func(a, b itemAt) int { return paths.Compare(a.element, b.element) }
	if !slices.IsSortedFunc(items, compare) {
		slices.SortStableFunc(items, compare)
	}
}
