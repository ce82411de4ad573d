package structural

import "github.com/deed-project/deed/value"

// What is filled in, and what nulls give way to it. Of a schema in which replicas has the default 1,
// in spec, and port the default 80, in spec.template:
//
//	sent       {"spec":{"replicas":null,"paused":null}}    neither admits null
//	DropNulls  {"spec":{"replicas":null}}                  replicas has a default for the place
//	Default    {"spec":{"replicas":1}}                     nobody makes template, so there is no port

// DropNulls returns v, an object, without the members that are null although their schema neither
// admits null nor has a default that takes the place. Items of lists stay.
//
// The cost grows with the size of the parts of v that s knows.
func (s *Schema) DropNulls(v value.Value) value.Value {
	return s.rootNode().dropNulls(v, value.Value{})
}

// dropNulls drops nulls below n, where no member of known is dropped. A nil node knows of none.
func (n *node) dropNulls(v, known value.Value) value.Value {
	if n == nil || v.Same(known) {
		return v
	}
	switch v.Kind() {
	case value.KindObject:
		return rewriteMembers(v, known, func(name string, member, known value.Value) value.Value {
			child, _ := n.child(name)
			if child.drops(member) {
				return value.Value{}
			}
			return child.dropNulls(member, known)
		})
	case value.KindList:
		return rewriteItems(v, known, func(_ int, item, known value.Value) value.Value { return n.items.dropNulls(item, known) })
	}
	return v
}

// Default returns v, an object, with defaults.
//
//  1. A property with a default is added where it is missing.
//  2. A property, a member by additionalProperties, or an item that is null, which its schema does
//     not admit, becomes its default.
//  3. Then the same is done in all members and items, those that were filled in too. Parents are
//     not made: where a parent is missing and has no default, nothing is filled in.
//
// Default after Default changes nothing. Defaults are shared by all objects that get them. The cost
// grows with the size of the parts of v below which there are defaults, and with the number of
// properties that are filled in there.
func (s *Schema) Default(v value.Value) value.Value { return s.fill(v, value.Value{}) }

// fill is Default for an object that shares parts with known, where nothing is filled in.
func (s *Schema) fill(v, known value.Value) value.Value { return s.rootNode().fill(v, known) }

// fill fills in what is missing below n, where v is.
func (n *node) fill(v, known value.Value) value.Value {
	if n == nil || !n.below.defaults || v.Same(known) {
		return v
	}
	switch v.Kind() {
	case value.KindObject:
		return n.addMissing(rewriteMembers(v, known, func(name string, member, known value.Value) value.Value {
			child, _ := n.child(name)
			return child.fillIn(member, known)
		}))
	case value.KindList:
		return rewriteItems(v, known, func(_ int, item, known value.Value) value.Value { return n.items.fillIn(item, known) })
	}
	return v
}

// fillIn returns v with its defaults, or the default that takes its place.
func (n *node) fillIn(v, known value.Value) value.Value {
	if n.rejects(v) && !n.fallback.IsAbsent() {
		return n.fallback
	}
	return n.fill(v, known)
}

// addMissing adds the properties with defaults that the object v lacks. Both are sorted by name,
// and merged:
//
//	v          a   c     e
//	defaulted    b c d
//	           a b c d e     c is v's own
func (n *node) addMissing(v value.Value) value.Value {
	missing := 0
	for _, p := range n.defaulted {
		if v.Get(p.name).IsAbsent() {
			missing++
		}
	}
	if missing == 0 {
		return v
	}
	out, next := make([]value.Member, 0, v.Len()+missing), 0
	for _, p := range n.defaulted {
		for ; next < v.Len() && v.Member(next).Name < p.name; next++ {
			out = append(out, v.Member(next))
		}
		if next == v.Len() || v.Member(next).Name != p.name {
			out = append(out, value.Member{Name: p.name, Value: p.fallback})
		}
	}
	for ; next < v.Len(); next++ {
		out = append(out, v.Member(next))
	}
	return value.Object(out...)
}

// pruneDefaults prunes the defaults of n and below, of which the outer ones come first. at is the
// way from the root to n.
//
// What is known at a place depends on the way to it: whether it is in an embedded resource, or in a
// list that preserves. So a default is put into an object that has nothing else, that is pruned from
// the root, and the default is taken out again:
//
//	default of spec.ports' items   {"port":80,"prot":"TCP"}
//	wrapped                        {"spec":{"ports":[{"port":80,"prot":"TCP"}]}}
//	pruned                         {"spec":{"ports":[{"port":80}]}}
//	unwrapped                      {"port":80}
func (n *node) pruneDefaults(root *node, at *step) {
	if n == nil {
		return
	}
	if !n.fallback.IsAbsent() {
		object := at.wrap(n.fallback)
		object = (&coercer{lenient: true}).resource(object, value.Value{}, root)
		object = new(pruner).members(object, value.Value{}, root, root.preserve, true)
		n.fallback = at.unwrap(object)
		if n.fallback.IsNull() {
			n.fallback = value.Value{}
		}
	}
	if n.additional != nil {
		n.additional.pruneDefaults(root, &step{parent: at, name: "*"})
	}
	n.items.pruneDefaults(root, &step{parent: at, item: true})
	for name, p := range n.properties {
		p.pruneDefaults(root, &step{parent: at, name: name})
	}
}

// step is one step from the root of a schema to one of its nodes: to a member, or to the items of a
// list.
type step struct {
	parent *step
	name   string
	item   bool
}

// wrap returns an object that has v where s leads, and nothing else: for spec and then items,
// {"spec":[v]}.
func (s *step) wrap(v value.Value) value.Value {
	switch {
	case s == nil:
		return v
	case s.item:
		return s.parent.wrap(value.List(v))
	}
	return s.parent.wrap(value.Object(value.Member{Name: s.name, Value: v}))
}

// unwrap returns what an object has where s leads, and the absent value if it has nothing there.
func (s *step) unwrap(object value.Value) value.Value {
	if s == nil {
		return object
	}
	parent := s.parent.unwrap(object)
	if !s.item {
		return parent.Get(s.name)
	}
	if parent.Kind() == value.KindList && parent.Len() > 0 {
		return parent.Item(0)
	}
	return value.Value{}
}
