package structural

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/value"
)

// SchemaError is a defect that makes a schema unusable.
type SchemaError struct {
	Path   string // the place in the schema, such as .properties[spec].items; empty at the root
	Reason string
}

// Error returns the reason with its path. The wording may change.
func (e *SchemaError) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// Compile compiles an openAPIV3Schema. It returns nil for an absent or null schema.
//
//  1. Each default is pruned like the same part of an object. Malformed metadata in a default is
//     removed. A default that pruning removes counts as absent.
//  2. A null default counts as absent.
//  3. additionalProperties is a schema, true or false. true and false mean the same: the members
//     are known, but their content is not.
//
// The schema should be one that an API server accepts. In other schemas, unusable parts count as
// absent. The only error, a [*SchemaError], is a default of the root that is not an object.
//
// Cost: linear in the size of the schema, and for each default also in its depth.
func Compile(openAPIV3Schema value.Value) (*Schema, error) {
	if openAPIV3Schema.Kind() != value.KindObject {
		return nil, nil
	}
	root := compile(openAPIV3Schema)
	if k := root.fallback.Kind(); k != value.KindAbsent && k != value.KindObject {
		return nil, &SchemaError{Reason: "the default of an object must be an object and is of kind " + k.String()}
	}
	root.pruneDefaults(root, nil)
	root.finish()
	return &Schema{root}, nil
}

// Versions returns the schemas of a CustomResourceDefinition of apiextensions.k8s.io/v1, by the
// names of its versions. A version without a schema has a nil Schema.
func Versions(crd value.Value) (map[string]*Schema, error) {
	schemas := map[string]*Schema{}
	for v := range crd.Get("spec", "versions").Items() {
		s, err := Compile(v.Get("schema", "openAPIV3Schema"))
		if err != nil {
			return nil, &SchemaError{
				Path:   "spec.versions[" + v.Get("name").Str() + "].schema.openAPIV3Schema",
				Reason: err.Error(),
			}
		}
		schemas[v.Get("name").Str()] = s
	}
	return schemas, nil
}

// compile reads a schema. Its defaults stay as they were written.
func compile(v value.Value) *node {
	if v.Kind() != value.KindObject {
		return nil
	}
	n := &node{
		nullable: v.Get("nullable").Bool(),
		preserve: v.Get("x-kubernetes-preserve-unknown-fields").Bool(),
		embedded: v.Get("x-kubernetes-embedded-resource").Bool(),
		items:    compile(v.Get("items")),
		listType: v.Get("x-kubernetes-list-type").Str(),
	}
	for key := range v.Get("x-kubernetes-list-map-keys").Items() {
		if !slices.Contains(n.listKeys, key.Str()) {
			n.listKeys = append(n.listKeys, key.Str())
		}
	}
	if d := v.Get("default"); !d.IsNull() {
		n.fallback = d
	}
	if a := v.Get("additionalProperties"); !a.IsAbsent() && !a.IsNull() {
		n.additional = &additional{compile(a)}
	}
	if properties := v.Get("properties"); properties.Len() > 0 {
		n.properties = make(map[string]*node, properties.Len())
		for name, property := range properties.Members() {
			if p := compile(property); p != nil {
				n.properties[name] = p
			}
		}
	}
	n.survey()
	return n
}

// children yields the child nodes of n: the properties by name, the items, and the additional
// properties. The last two may be nil.
func (n *node) children(yield func(*node) bool) {
	for _, name := range slices.Sorted(maps.Keys(n.properties)) {
		if !yield(n.properties[name]) {
			return
		}
	}
	if yield(n.items) {
		yield(n.additionalNode())
	}
}

// survey records which resources and lists are at n and below. The children must be surveyed
// before.
func (n *node) survey() {
	n.below = contents{resources: n.embedded, unique: n.listType == "set" || n.listType == "map"}
	for child := range n.children {
		if child != nil {
			n.below.resources = n.below.resources || child.below.resources
			n.below.unique = n.below.unique || child.below.unique
		}
	}
}

// finish fills in the defaults inside of defaults, from the leaves to the root. It also records
// which nodes have defaults below them.
//
// Invariant: when a node is finished, Default does not change its fallback. A walk that fills in a
// fallback therefore need not enter it, and all objects share it.
func (n *node) finish() {
	for child := range n.children {
		if child != nil {
			child.finish()
			n.below.defaults = n.below.defaults || child.below.defaults || !child.fallback.IsAbsent()
			n.below.nulls = n.below.nulls || child.below.nulls || hasNulls(child.fallback)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.properties)) {
		if p := n.properties[name]; !p.fallback.IsAbsent() {
			n.defaulted = append(n.defaulted, property{name, p})
		}
	}
	n.fallback = n.fill(n.fallback, value.Value{})
}

// hasNulls reports whether v contains a null.
func hasNulls(v value.Value) bool {
	for item := range v.Items() {
		if hasNulls(item) {
			return true
		}
	}
	for _, member := range v.Members() {
		if hasNulls(member) {
			return true
		}
	}
	return v.IsNull()
}
