package fieldpath

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	deed "github.com/deed-project/deed/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// Set is a set of paths. A path can be a member without the paths above and below it. The zero Set is empty.
//
//	form    Members.of, Children.of    members are
//	whole   the same, not nil          the members of the set of deed in it
//	tree    anything else              Members at this level, and Children, a set for each element, below
type Set struct {
	// Members are the elements of the members of length one.
	Members PathElementSet

	// Children maps the first element of the longer members to the set of their remaining paths.
	Children SetNodeMap
}

// SetNodeMap maps elements to sets. The zero SetNodeMap is empty.
type SetNodeMap struct {
	nodes []setNode // sorted; nil if of is not nil
	of    *shared   // if not nil, it has the nodes
	built *built    // cache of a tree as a set of deed; nil for no cache
}

// setNode is an element and the set of the paths below it.
type setNode struct {
	element PathElement
	set     *Set
}

// shared is a set of deed, with its elements in the form of this package. The first access makes the elements. The set never
// changes.
type shared struct {
	set  deed.Set
	read bool // numbers are floats

	once    sync.Once
	members []PathElement
	nodes   []setNode
}

// wrap returns s as a whole Set.
func wrap(s deed.Set, read bool) *Set {
	if s.IsEmpty() {
		return &Set{}
	}
	w := &struct {
		set  Set
		self shared
	}{self: shared{set: s, read: read}}
	w.set.Members.of, w.set.Children.of = &w.self, &w.self
	return &w.set
}

// expand returns w with members and nodes.
func (w *shared) expand() *shared {
	w.once.Do(func() {
		for e := range w.set.Entries() {
			element := fromDeed(e.Element, w.read)
			if e.Member {
				w.members = append(w.members, element)
			}
			if !e.Sub.IsEmpty() {
				w.nodes = append(w.nodes, setNode{element, wrap(e.Sub, w.read)})
			}
		}
	})
	return w
}

// whole returns the set of deed that s wraps, or nil if s is a tree.
func (s *Set) whole() *shared {
	if s.Members.of == s.Children.of {
		return s.Members.of
	}
	return nil
}

// wasRead reports whether s is known to be read from fieldsV1. It returns false for a tree.
func (s *Set) wasRead() bool {
	w := s.whole()
	return w != nil && w.read
}

// built caches a tree as a set of deed. Copies of a Set by assignment share the cache, and callers may replace Members and Children. The
// cache therefore holds the storage of all levels. An insertion changes the length of a slice, or the slice itself.
type built struct{ last atomic.Pointer[builtSet] }

type builtSet struct {
	set    deed.Set
	levels []level // in the order of walk
}

// level is the storage of one level of a tree.
type level struct {
	members, nodes *shared // the sets of deed in Members and Children, or nil
	ownMembers     []PathElement
	ownNodes       []setNode
}

func (l level) same(other level) bool {
	return l.members == other.members && l.nodes == other.nodes &&
		sameSlice(l.ownMembers, other.ownMembers) && sameSlice(l.ownNodes, other.ownNodes)
}

// sameSlice reports whether a and b are one slice of one array.
func sameSlice[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// walk calls f with each level of s until f returns false. It reports whether f never did.
func (s *Set) walk(f func(level) bool) bool {
	if !f(level{s.Members.of, s.Children.of, s.Members.members, s.Children.nodes}) {
		return false
	}
	for _, n := range s.Children.nodes {
		if !n.set.walk(f) {
			return false
		}
	}
	return true
}

// isOf reports whether b was made of the present levels of s.
func (b *builtSet) isOf(s *Set) bool {
	rest := b.levels
	return s.walk(func(l level) bool {
		if len(rest) == 0 || !l.same(rest[0]) {
			return false
		}
		rest = rest[1:]
		return true
	}) && len(rest) == 0
}

// deed returns s as a set of deed.
func (s *Set) deed() deed.Set {
	if w := s.whole(); w != nil {
		return w.set
	}
	cache := s.Children.built
	if cache != nil {
		if known := cache.last.Load(); known != nil && known.isOf(s) {
			return known.set
		}
	}
	var b deed.Builder
	s.build(&b, nil)
	set := b.Set()
	if cache != nil {
		made := &builtSet{set: set}
		s.walk(func(l level) bool {
			made.levels = append(made.levels, l)
			return true
		})
		cache.last.Store(made)
	}
	return set
}

// build adds the members of s, below prefix, to b.
func (s *Set) build(b *deed.Builder, prefix deed.Path) {
	for _, e := range s.Members.elements() {
		b.Add(append(slices.Clip(prefix), e.toDeed()))
	}
	for _, n := range s.Children.children() {
		n.set.build(b, append(slices.Clip(prefix), n.element.toDeed()))
	}
}

// NewSet returns the set of paths.
func NewSet(paths ...Path) *Set {
	s := &Set{}
	for _, p := range paths {
		s.Insert(p)
	}
	return s.tree()
}

// tree returns s, a complete tree, and gives it a cache of its set of deed.
func (s *Set) tree() *Set {
	if s.Members.Size() > 0 || len(s.Children.nodes) > 0 {
		s.Children.built = &built{}
	}
	return s
}

// Copy returns a copy of s.
func (s *Set) Copy() *Set {
	if s.whole() != nil {
		out := *s
		return &out
	}
	return (&Set{Members: s.Members.Copy(), Children: s.Children.Copy()}).tree()
}

// Insert adds p, but not the paths above it. The empty path changes nothing.
func (s *Set) Insert(p Path) {
	if len(p) == 0 {
		return
	}
	for ; len(p) > 1; p = p[1:] {
		s = s.Children.Descend(p[0])
	}
	s.Members.Insert(p[0])
}

// combine returns one set made of s and s2. It calls whole if one of them is whole, and otherwise tree. The result counts as
// read if s was read, or if s is empty and s2 was read.
func (s *Set) combine(s2 *Set, whole func(l, r deed.Set) deed.Set, tree func() *Set) *Set {
	l, r := s.whole(), s2.whole()
	if l == nil && r == nil {
		return tree().tree()
	}
	return wrap(whole(s.deed(), s2.deed()), l != nil && l.read || l == nil && s.Empty() && r.read)
}

// Union returns the paths that are members of s or s2.
func (s *Set) Union(s2 *Set) *Set {
	return s.combine(s2, deed.Set.Union, func() *Set {
		return &Set{Members: *s.Members.Union(&s2.Members), Children: *s.Children.Union(&s2.Children)}
	})
}

// Intersection returns the paths that are members of both s and s2.
func (s *Set) Intersection(s2 *Set) *Set {
	return s.combine(s2, deed.Set.Intersect, func() *Set {
		return &Set{Members: *s.Members.Intersection(&s2.Members), Children: *s.Children.Intersection(&s2.Children)}
	})
}

// Difference returns the members of s that are not members of s2. A member of s2 does not remove the paths below it.
func (s *Set) Difference(s2 *Set) *Set {
	return s.combine(s2, deed.Set.Minus, func() *Set {
		return &Set{Members: *s.Members.Difference(&s2.Members), Children: *s.Children.Difference(s2)}
	})
}

// RecursiveDifference returns the members of s that are neither members of s2 nor below a member of s2.
func (s *Set) RecursiveDifference(s2 *Set) *Set {
	return s.combine(s2, deed.Set.Without, func() *Set {
		return &Set{Members: *s.Members.Difference(&s2.Members), Children: *s.Children.RecursiveDifference(s2)}
	})
}

// EnsureNamedFieldsAreMembers returns s with more members: the fields that the schema declares and that have paths below them.
// tr is the type of the object.
func (s *Set) EnsureNamedFieldsAreMembers(sc *schema.Schema, tr schema.TypeRef) *Set {
	var b deed.Builder
	addNamed(&b, nil, s.deed(), sc, tr)
	return wrap(b.Set(), s.wasRead())
}

// addNamed adds to b the paths of s and the declared fields above each path. s is below prefix, which has the type tr.
func addNamed(b *deed.Builder, prefix deed.Path, s deed.Set, sc *schema.Schema, tr schema.TypeRef) {
	atom, _ := sc.Resolve(tr)
	for e := range s.Entries() {
		path := append(slices.Clip(prefix), e.Element)
		below, named := schema.TypeRef{}, false
		switch kind := e.Element.Kind(); {
		case kind == deed.KindField && atom.Map != nil:
			var field schema.StructField
			if field, named = atom.Map.FindField(e.Element.Name()); named {
				below = field.Type
			} else {
				below = atom.Map.ElementType
			}
		case kind == deed.KindKey && atom.List != nil:
			below = atom.List.ElementType
		}
		if e.Member || named {
			b.Add(path)
		}
		addNamed(b, path, e.Sub, sc, below)
	}
}

// Size returns the number of members.
func (s *Set) Size() int {
	if w := s.whole(); w != nil {
		return w.set.Len()
	}
	return s.Members.Size() + s.Children.Size()
}

// Empty reports whether there are no members.
func (s *Set) Empty() bool {
	if s.whole() != nil {
		return false
	}
	return s.Members.Size() == 0 && s.Children.Empty()
}

// Has reports whether p is a member.
func (s *Set) Has(p Path) bool {
	if len(p) == 0 {
		return false
	}
	for ; len(p) > 1; p = p[1:] {
		if w := s.whole(); w != nil {
			return w.set.Has(p.toDeed())
		}
		below, ok := s.Children.Get(p[0])
		if !ok {
			return false
		}
		s = below
	}
	return s.Members.Has(p[0])
}

// Equals reports whether s and s2 have the same members.
func (s *Set) Equals(s2 *Set) bool { return s.deed().Equal(s2.deed()) }

// String returns the members, one a line.
func (s *Set) String() string {
	var lines []string
	s.Iterate(func(p Path) { lines = append(lines, p.String()) })
	return strings.Join(lines, "\n")
}

// Iterate calls f with each member. Members of one element come first. Then, for each element in order, come the members below
// it. The path is valid until f returns.
func (s *Set) Iterate(f func(Path)) {
	s.each(nil, func(p Path) bool {
		f(p)
		return true
	})
}

// All yields the members in the order of [Set.Iterate]. The paths belong to the caller.
func (s *Set) All() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		s.each(nil, func(p Path) bool { return yield(p.Copy()) })
	}
}

// each calls f with each member, below prefix, until it returns false.
func (s *Set) each(prefix Path, f func(Path) bool) bool {
	for _, e := range s.Members.elements() {
		if !f(append(prefix, e)) {
			return false
		}
	}
	for _, n := range s.Children.children() {
		if !n.set.each(append(prefix, n.element), f) {
			return false
		}
	}
	return true
}

// WithPrefix returns the rest, after pe, of the longer members that begin with pe.
func (s *Set) WithPrefix(pe PathElement) *Set {
	if below, ok := s.Children.Get(pe); ok {
		return below
	}
	return &Set{}
}

// Leaves returns the members that have no members below them.
func (s *Set) Leaves() *Set { return wrap(s.deed().Leaves(), s.wasRead()) }
