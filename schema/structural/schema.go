package structural

import "github.com/deed-project/deed/value"

// Schema is the compiled structural schema of one version of a resource. It is immutable.
//
// The nil Schema and the zero Schema stand for a version without a schema. They know only
// apiVersion, kind and metadata.
type Schema struct{ root *node }

// node is the schema of one place in objects. A nil node knows no members and admits everything.
//
// Invariants, once Compile is done:
//
//	below covers the resources and lists of n and its descendants, and the fallbacks of its
//	descendants, so that a walk can skip parts without them
//	defaulted has the properties with a fallback, in the order of names
//	Default does not change fallback
type node struct {
	nullable bool // null is admitted, and neither dropped nor defaulted
	preserve bool // x-kubernetes-preserve-unknown-fields
	embedded bool // x-kubernetes-embedded-resource

	// fallback is the default, pruned and with the defaults inside of it filled in. It is absent if
	// there is no default. It is never null, because a null default counts as absent.
	fallback value.Value

	properties map[string]*node // no nil nodes
	additional *additional      // nil without additionalProperties
	items      *node

	listType string   // x-kubernetes-list-type, or ""
	listKeys []string // x-kubernetes-list-map-keys

	defaulted []property // the properties that have a default, by name
	below     contents
}

// additional is the value of additionalProperties: the node of a schema, or nil for true and false,
// which prune alike.
type additional struct{ *node }

// property is a property of an object with its schema.
type property struct {
	name string
	*node
}

// contents says which things a node or its descendants have, so that walks can skip parts without
// them.
type contents struct {
	defaults  bool // defaults of descendants
	nulls     bool // nulls in these defaults
	resources bool // embedded resources
	unique    bool // lists that are sets or maps
}

// child returns the schema of the member called name, and whether the schema knows the member.
func (n *node) child(name string) (_ *node, known bool) {
	if n == nil {
		return nil, false
	}
	if p, ok := n.properties[name]; ok {
		return p, true
	}
	return n.additionalNode(), n.additional != nil
}

// additionalNode returns the schema in additionalProperties, or nil.
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

// drops reports whether v is a null to drop: n neither admits null nor has a default.
func (n *node) drops(v value.Value) bool { return n.rejects(v) && n.fallback.IsAbsent() }

// isRootField reports whether every object has the field called name, whatever its schema.
func isRootField(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}
