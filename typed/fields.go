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

// Which fields a value has. Of a type in which spec declares replicas, ports, keyed by port, and
// selector, and selector admits any member:
//
//	v        {spec: {replicas: 3, selector: {app: web}, ports: [{port: 80}]}}
//
//	result   .spec.replicas           F1: a leaf
//	         .spec.selector.app       F1: a leaf; F2: selector is declared and not empty, so it is not there
//	         .spec.ports[port=80]     F3: each item, but not the list
//	         .spec.ports[port=80].port
//	not      .spec                    F2: it is declared, and neither a leaf nor empty
//
// Cost: linear in v, with a factor log n for the items of lists, whose paths are sorted.

// Fields returns the paths of v that a manager owns who applies v:
//
//	F1  A scalar, and an atomic list or object whatever it holds, is a leaf: its path is in the
//	    set, and nothing below it.
//	F2  A member of a granular object is in the set when it is a leaf, null or an empty object,
//	    and always when its type does not declare it as a field. What is below it follows by the
//	    same rules.
//	F3  Each item of a set or keyed list is in the set, and what is below it by the same rules. A
//	    granular list itself is not: an empty one is owned by nobody.
//	F4  An item that is there more than once is in the set once, without anything below it.
//	F5  The root is never in the set.
func (v Value) Fields() fieldpath.Set {
	f := newFielder(v)
	f.emit(v)
	return f.set()
}

// namedFields returns v.Fields() with every declared field added that it has paths below, see
// withNamedFields. By F2 and F3, all other paths that it has paths below are in it.
func (v Value) namedFields() fieldpath.Set {
	f := newFielder(v)
	f.emit(v)
	paths.IncludeAll(&f.b)
	return f.set()
}

// fieldsLike returns v.Fields().Minus(except). Where that equals known, it is known itself, and
// costs no memory.
func (v Value) fieldsLike(known, except fieldpath.Set) fieldpath.Set {
	f := newFielder(v)
	paths.Expect(&f.b, known)
	f.except = except
	f.emit(v)
	f.except = fieldpath.Set{}
	return f.set()
}

var fielders = sync.Pool{New: func() any { return new(fielder) }}

// fielder emits the fields of one value, siblings in ascending order, so that building the set is a
// matter of appending.
type fielder struct {
	b      fieldpath.Builder
	texts  slab.Text
	tidy   bool
	except fieldpath.Set // what is not to be emitted, as seen from the value that is walked
	nodes  int           // that were visited
	items  []itemAt      // of the lists that are being walked, innermost last
}

// newFielder returns a fielder for v. Its set must be asked for in the end, which gives it back.
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

// set returns the set of what was emitted, and gives f back.
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
		return true // as the parts would say, but sooner: most values are scalars
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

// below emits what is below v, which is no leaf.
func (f *fielder) below(t *schema.Type, v value.Value) {
	f.nodes++
	switch partsFor(t, v).first() {
	case mapPart:
		f.object(t.Map(), v)
	case listPart:
		f.list(t.List(), v)
	}
}

// object emits what is below an object, member by member: values and sets have the same order.
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
		if isLeaf(t, member.Value) { // from here on what node does, but without a call for each member
			paths.Leaf(&f.b, fieldpath.Field(member.Name))
			continue
		}
		paths.Enter(&f.b, fieldpath.Field(member.Name))
		f.below(t, member.Value)
		paths.Leave(&f.b, !declared || isNothing(member.Value))
	}
}

// isNothing reports whether v is null or {}: then its own path is in the set, by F2, though it is
// that of a granular object.
func isNothing(v value.Value) bool { return v.IsNull() || isEmptyObject(v) }

// isEmptyObject reports whether v is {}.
func isEmptyObject(v value.Value) bool { return v.Kind() == value.KindObject && v.Len() == 0 }

// node emits the element e of v, a value of type t, and what is below it, but for what is excepted.
// e is a member if v is a leaf or if member says so.
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

// leaf emits the element e alone, unless it is excepted.
func (f *fielder) leaf(e fieldpath.Element) {
	if excepted, _ := f.except.Get(e); !excepted {
		paths.Leaf(&f.b, e)
	}
}

// list emits the items of a granular list, in the order of their elements. Items without identity
// have the zero element together; one that is there several times is a leaf, by F4.
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
		// n is how many items, from this one on, have its element: equal elements come one after the
		// other.
		at, n := f.items[i], 1
		for !f.tidy && i+n < len(f.items) && f.items[i+n].element == at.element {
			n++
		}
		// F4: it is there several times.
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

// appendItems appends the items of v with their elements. Items without identity, which only a list
// that is not tidy has, are left out.
func appendItems(to []itemAt, m *slab.Text, l *schema.List, v value.Value, tidy bool) []itemAt {
	for _, item := range values.Items(v) {
		if tidy || defect(l, item) == "" {
			to = append(to, itemAt{elementOf(m, l, item), item})
		}
	}
	return to
}

// sortItems sorts items by element; of equals, the first stays first.
func sortItems(items []itemAt) {
	compare := func(a, b itemAt) int { return paths.Compare(a.element, b.element) }
	if !slices.IsSortedFunc(items, compare) {
		slices.SortStableFunc(items, compare)
	}
}
