package structural

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/value"
)

// SchemaError says where and why a schema cannot be carried out.
type SchemaError struct {
	Path   string // in the schema, such as .properties[spec].items; empty at the root
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

// Compile returns what an openAPIV3Schema says. An absent or null schema gives nil.
//
//  1. Defaults are pruned as objects are, each at its place in an object, and metadata in them that
//     is malformed goes. A default that is pruned away is none.
//  2. A null default counts as none.
//  3. additionalProperties is a schema, or true or false, which mean the same: members are known,
//     what is in them is not.
//
// The schema is expected to be one that an API server would accept. Where it is not, the parts that
// are not understood count as absent, except for a default of the root that is no object, which is
// an error, always a [*SchemaError].
//
// The cost grows with the size of the schema, and for each default with its depth.
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

// Versions returns the schemas of a CustomResourceDefinition of apiextensions.k8s.io/v1, for each
// of its versions by name. Versions without a schema have a nil one.
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

// compile reads a schema. Its defaults are as they were written.
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

// children yields the nodes right below n, nil ones too, properties by name.
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

// survey notes which resources and lists are at n and below. It is done once all children are.
func (n *node) survey() {
	n.below = contents{resources: n.embedded, unique: n.listType == "set" || n.listType == "map"}
	for child := range n.children {
		if child != nil {
			n.below.resources = n.below.resources || child.below.resources
			n.below.unique = n.below.unique || child.below.unique
		}
	}
}

// finish fills in the defaults inside of defaults, from the leaves to the root, and notes below
// which nodes there are defaults.
//
// Invariant: when a node is finished, its fallback is what Default makes of the default there. So a
// walk that puts a fallback somewhere need not enter it, and a fallback is shared by all objects
// that get it.
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

// hasNulls reports whether there is a null in v.
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
