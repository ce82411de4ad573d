package structural

import "github.com/deed-project/deed/value"

// Schema is the compiled structural schema of one version of a resource. It is immutable.
//
// The nil Schema and the zero Schema are those of a version without one, and know the fields that all
// objects have: apiVersion, kind and metadata.
type Schema struct{ root *node }

// node is the schema of one place in objects. A nil node knows no members and admits everything.
//
// Invariants, once Compile is done:
//
//	below is about fallbacks, resources and lists of all nodes that n leads to, so that a walk which
//	does not find there what it is about need not go on
//	defaulted has the properties with a fallback, in the order of names
//	fallback is what Default makes of it
type node struct {
	nullable bool // null is admitted, and neither dropped nor defaulted
	preserve bool // x-kubernetes-preserve-unknown-fields
	embedded bool // x-kubernetes-embedded-resource

	// fallback is the default, pruned and with the defaults inside of it filled in; absent when
	// there is none. As a null default counts as none, it is never null.
	fallback value.Value

	properties map[string]*node // nil nodes do not occur
	additional *additional      // nil when additionalProperties is not there
	items      *node

	listType string   // x-kubernetes-list-type, or ""
	listKeys []string // x-kubernetes-list-map-keys

	defaulted []property // the properties that have a default, by name
	below     contents
}

// additional is what additionalProperties says: a schema, or a nil node for true and false, which
// prune alike.
type additional struct{ *node }

// property is a property of an object with its schema.
type property struct {
	name string
	*node
}

// contents says what a node or anything below it has, so that walks leave out what does not concern
// them.
type contents struct {
	defaults  bool // for what is there: items, members, and members of these
	nulls     bool // in these defaults
	resources bool // embedded resources
	unique    bool // lists that are sets or maps
}

// child returns the schema of the member called name, and whether the schema speaks of such a member.
func (n *node) child(name string) (_ *node, known bool) {
	if n == nil {
		return nil, false
	}
	if p, ok := n.properties[name]; ok {
		return p, true
	}
	return n.additionalNode(), n.additional != nil
}

// additionalNode returns what additionalProperties says about members, and nil where it says nothing.
func (n *node) additionalNode() *node {
	if n.additional == nil {
		return nil
	}
	return n.additional.node
}

// item returns the schema of list items.
func (n *node) item() *node {
	if n == nil {
		return nil
	}
	return n.items
}

// rejects reports whether v is a null that n does not admit.
func (n *node) rejects(v value.Value) bool { return v.IsNull() && n != nil && !n.nullable }

// drops reports whether v is a null that goes: n neither admits it nor has a default that takes its
// place.
func (n *node) drops(v value.Value) bool { return n.rejects(v) && n.fallback.IsAbsent() }

// isRootField reports whether name is a field that every object has, whatever its schema says.
func isRootField(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}
