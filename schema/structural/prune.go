package structural

import (
	"github.com/deed-project/deed/value"
)

// Pruning by example. The schema preserves unknown fields in a; a has the property b, and b has the
// property c:
//
//	object  {"a":{"x":1,"b":{"c":2,"y":3}},"z":4}
//	pruned  {"a":{"x":1,"b":{"c":2}}}                 a's preservation does not extend to b
//	paths   a.b.y, z

// Prune returns object without the fields that s does not know. It also returns their paths, such
// as spec.ports[2].nam, in bytewise order. After a megabyte of paths, the last text gives the
// number of further paths.
//
//  1. apiVersion, kind and metadata stay unchanged, at the root and in embedded resources.
//  2. A member is known if properties has its name, or if there is additionalProperties.
//  3. An unknown member is removed, unless x-kubernetes-preserve-unknown-fields keeps it. A kept
//     member stays unchanged with all its content.
//  4. A known member is pruned by its own schema, also inside of preserved objects. It does not
//     inherit preservation. Only the items of a list that preserves inherit it.
//  5. A list without a schema for its items keeps the items, but their members are removed.
//
// Cost: linear in the size of object and in the length of the paths.
func (s *Schema) Prune(object value.Value) (value.Value, []string) {
	return s.prune(object, value.Value{}, false)
}

// tidy is Prune and then DropNulls in one walk, for an object that shares parts with known. The
// shared parts need no change.
func (s *Schema) tidy(object, known value.Value) (value.Value, []string) {
	return s.prune(object, known, true)
}

func (s *Schema) prune(object, known value.Value, nulls bool) (value.Value, []string) {
	p := pruner{nulls: nulls}
	out := p.members(object, known, s.rootNode(), s.rootNode().preserve, true)
	return out, p.unknown.sorted()
}

// noSchema is the root of the nil and the zero Schema. It knows only the fields that all objects
// have.
var noSchema = new(node)

// rootNode returns the node of whole objects. It is never nil.
func (s *Schema) rootNode() *node {
	if s == nil || s.root == nil {
		return noSchema
	}
	return s.root
}

// pruner is the state of Prune.
type pruner struct {
	nulls   bool  // also drop the members that DropNulls drops
	at      trail // where the walk is
	unknown paths // the paths of removed members
}

// walk prunes v by n. keep is whether unknown members of v stay.
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

// members prunes the object v. resource is whether v is a whole object or an embedded resource.
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
