package structural

import (
	"slices"

	"github.com/deed-project/deed/value"
)

// Prune returns object without the fields that s does not know, and their paths in bytewise order,
// such as spec.ports[2].nam.
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
	var p pruner
	out := p.members(object, s.rootNode(), s.rootNode().preserve, true)
	slices.Sort(p.unknown)
	return out, p.unknown
}

var noSchema = new(node)

func (s *Schema) rootNode() *node {
	if s == nil {
		return noSchema
	}
	return s.root
}

type pruner struct {
	at      trail
	unknown []string
}

// value prunes v by n.
func (p *pruner) value(v value.Value, n *node) value.Value {
	return p.walk(v, n, n != nil && n.preserve)
}

// walk prunes v by n. keep is whether unknown members stay here.
func (p *pruner) walk(v value.Value, n *node, keep bool) value.Value {
	if keep && n == nil {
		return v // an item that a list preserves, without a schema of its own
	}
	switch v.Kind() {
	case value.KindObject:
		return p.members(v, n, keep, n != nil && n.embedded)
	case value.KindList:
		return rewriteItems(v, func(i int, item value.Value) value.Value {
			p.at.enterItem(i)
			defer p.at.leave()
			child := n.item()
			return p.walk(item, child, keep || child != nil && child.preserve)
		})
	}
	return v
}

func (p *pruner) members(v value.Value, n *node, keep, resource bool) value.Value {
	return rewriteMembers(v, func(name string, member value.Value) value.Value {
		if resource && isRootField(name) {
			return member
		}
		child, known := n.child(name)
		switch {
		case known:
			p.at.enterMember(name)
			defer p.at.leave()
			return p.value(member, child)
		case keep:
			return member
		}
		p.unknown = append(p.unknown, p.at.member(name))
		return value.Value{}
	})
}
