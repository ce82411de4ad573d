package structural

import (
	"github.com/deed-project/deed/value"
)

// What is known, and what goes. Of a schema that preserves unknown fields in a, and knows b in it and
// c in that:
//
//	object  {"a":{"x":1,"b":{"c":2,"y":3}},"z":4}
//	pruned  {"a":{"x":1,"b":{"c":2}}}                 b does not inherit what a preserves
//	paths   a.b.y, z

// Prune returns object without the fields that s does not know, and their paths in bytewise order,
// such as spec.ports[2].nam. Behind a megabyte of paths the last one tells how many there are
// beyond.
//
//  1. apiVersion, kind and metadata are left as they are, at the root and in embedded resources.
//  2. A member is known if properties has its name, or if there is additionalProperties.
//  3. Members that are not known go, unless x-kubernetes-preserve-unknown-fields keeps them; then
//     they stay as they are, whatever is in them.
//  4. What is known is pruned by its own schema, inside of what is preserved too. It inherits no
//     preservation, except that items of a list that preserves do.
//  5. A list of which nothing is known keeps its items and loses what is in them.
//
// The cost grows with the size of object, and with the length of what is reported.
func (s *Schema) Prune(object value.Value) (value.Value, []string) {
	return s.prune(object, value.Value{}, false)
}

// tidy is Prune, then DropNulls, in one walk, for an object that shares parts with known, of which
// nothing goes.
func (s *Schema) tidy(object, known value.Value) (value.Value, []string) {
	return s.prune(object, known, true)
}

func (s *Schema) prune(object, known value.Value, nulls bool) (value.Value, []string) {
	p := pruner{nulls: nulls}
	out := p.members(object, known, s.rootNode(), s.rootNode().preserve, true)
	return out, p.unknown.sorted()
}

// noSchema is the root of the nil Schema and of the zero one: nothing is known but what all objects have.
var noSchema = new(node)

// rootNode returns the node of whole objects, which is never nil.
func (s *Schema) rootNode() *node {
	if s == nil || s.root == nil {
		return noSchema
	}
	return s.root
}

// pruner is the state of Prune.
type pruner struct {
	nulls   bool  // members that DropNulls drops go as well
	at      trail // where the walk is
	unknown paths // of what goes
}

// walk prunes v by n. keep is whether unknown members stay here.
func (p *pruner) walk(v, known value.Value, n *node, keep bool) value.Value {
	if v.Same(known) {
		return v
	}
	if keep && n == nil {
		return v // an item that a list preserves, without a schema of its own
	}
	switch v.Kind() {
	case value.KindObject:
		return p.members(v, known, n, keep, n != nil && n.embedded)
	case value.KindList:
		return rewriteItems(v, known, func(i int, item, known value.Value) value.Value {
			p.at.enterItem(i)
			defer p.at.leave()
			child := n.item()
			return p.walk(item, known, child, keep || child != nil && child.preserve)
		})
	}
	return v
}

// members prunes the object v. resource is whether it is one by itself, with fields of its own.
func (p *pruner) members(v, known value.Value, n *node, keep, resource bool) value.Value {
	return rewriteMembers(v, known, func(name string, member, known value.Value) value.Value {
		child, declared := n.child(name)
		switch {
		case p.nulls && child.drops(member):
			return value.Value{}
		case resource && isRootField(name):
			if p.nulls {
				return child.dropNulls(member, known)
			}
			return member
		case declared:
			p.at.enterMember(name)
			defer p.at.leave()
			return p.walk(member, known, child, child != nil && child.preserve)
		case keep:
			return member
		}
		p.unknown.add(p.at, name)
		return value.Value{}
	})
}
