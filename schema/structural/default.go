package structural

import "github.com/deed-project/deed/value"

// Nulls and defaults. In this example, replicas in spec has the default 1, and port in
// spec.template has the default 80. Neither replicas nor paused admits null:
//
//	sent       {"spec":{"replicas":null,"paused":null}}
//	DropNulls  {"spec":{"replicas":null}}                  replicas has a default
//	Default    {"spec":{"replicas":1}}                     port has no parent, and gets no default

// DropNulls returns the object v without null members whose schema neither admits null nor has a
// default. Null items of lists stay.
//
// Cost: linear in the size of the parts of v that s knows.
func (s *Schema) DropNulls(v value.Value) value.Value {
	return s.rootNode().dropNulls(v, value.Value{})
}

// dropNulls drops nulls in v, whose schema is n. No member of known needs dropping. A nil node
// drops nothing.
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

// Default returns the object v with defaults.
//
//  1. A missing property becomes its default.
//  2. A null becomes the default of its schema, if the schema does not admit null. This applies to
//     properties, members by additionalProperties, and items.
//  3. The same rules then apply inside all members and items, including the added ones. A missing
//     parent without a default is not created, so that the properties in it get no defaults.
//
// A second Default changes nothing. All objects share the values of defaults.
//
// Cost: linear in the size of the parts of v that may contain defaults, and in the number of added
// properties.
func (s *Schema) Default(v value.Value) value.Value { return s.fill(v, value.Value{}) }

// fill is Default for an object that shares parts with known. The shared parts have their defaults.
func (s *Schema) fill(v, known value.Value) value.Value { return s.rootNode().fill(v, known) }

// fill fills in the defaults in v, whose schema is n.
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

// fillIn returns v with its defaults, or the default that replaces v.
func (n *node) fillIn(v, known value.Value) value.Value {
	if n.rejects(v) && !n.fallback.IsAbsent() {
		return n.fallback
	}
	return n.fill(v, known)
}

// addMissing adds the properties with defaults that the object v lacks. It merges the two lists,
// which are sorted by name:
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

// pruneDefaults prunes the defaults of n and below, the outer ones first. at is the path from the
// root to n.
//
// The known fields at a place depend on the path to it. The path may lead through an embedded
// resource, or a list that preserves unknown fields. pruneDefaults therefore wraps the default in
// an object, prunes the object from the root, and unwraps the default:
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

// step is one step of a path in a schema: to a member, or to the items of a list.
type step struct {
	parent *step
	name   string
	item   bool
}

// wrap returns an object with v at the path s, and nothing else: for spec and then items,
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

// unwrap returns the value at the path s of an object. It is absent if the object has no such path.
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
