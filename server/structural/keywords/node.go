package keywords

import (
	"regexp"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// Schemas compiled for judging. The library keeps a schema as maps, pointers and strings that it interprets for each value. A node has the
// same keywords ready: types as a set of bits, and patterns compiled once. The keywords of one kind of value are behind a pointer, nil for
// none.

// node is a schema compiled for judging values. A nil node judges every value good.
//
// It is immutable once compile returns, and safe for concurrent use. Nodes form a tree: a structural schema has no references.
type node struct {
	// types are the types that "type" admits. typed is false if the schema has no type.
	types    kinds
	typed    bool
	nullable bool
	format   string
	known    bool // strings are checked for this format
	enum     []any
	keys     []string // identify items, if the library compares lists by key

	text   *textRules
	number *numberRules
	size   *sizeRules // of lists and objects

	properties map[string]*node
	required   []string
	additional *node // for members without a property
	closed     bool  // members without a property are errors
	items      *node

	junctors *junctors

	resource bool // values are embedded resources

	// The library judges every value of an opaque node.
	opaque bool // has a keyword that only the library can judge
	below  contents
	count  int // number of nodes in this subtree

	// These select the parts that CEL rules need to see. whole is set if rules need the whole value: a rule is about it, or an alternative
	// of one of its members has rules, for which the library reads the enclosing value.
	whole, alternatives bool
}

// textRules are the keywords about strings; nil pointers are no bounds.
type textRules struct {
	minLength, maxLength *int64
	pattern              func() *regexp.Regexp // compiles the pattern on the first call; nil for none
	instructions         int64                 // of the pattern
}

// numberRules are the keywords about numbers; nil pointers are no bounds.
type numberRules struct {
	minimum, maximum, multipleOf       *float64
	exclusiveMinimum, exclusiveMaximum bool
}

// sizeRules bound the number of items and of members; nil pointers are no bounds.
type sizeRules struct{ minItems, maxItems, minProperties, maxProperties *int64 }

// junctors are the alternatives of a schema. Each is judged on the whole value.
type junctors struct {
	all, any, one []*node
	not           *node
	size          int  // number of nodes in all of them
	shuffled      bool // the library finds their errors in random order, because one of them has several members
}

// contents tells what a node or its subtree contains.
type contents struct {
	rules, resources bool
	shuffled         bool // alternatives whose errors come in random order
	members          bool // an object with several members
}

// kinds is a set of JSON types.
type kinds uint8

const (
	isBoolean kinds = 1 << iota
	isInteger
	isNumber
	isString
	isArray
	isObject
	isNull
)

// kindOf has the bit of each type that a schema can name.
var kindOf = map[string]kinds{
	"boolean": isBoolean, "integer": isInteger, "number": isNumber, "string": isString, "array": isArray, "object": isObject,
	"null": isNull,
}

// compile compiles a schema into nodes. Its cost is linear in the size of the schema.
//
// It compiles children first, as what a node contains below follows from theirs.
func compile(s *spec.Schema) *node {
	n := &node{
		count: 1, typed: len(s.Type) > 0, nullable: s.Nullable, format: s.Format, known: strfmt.Default.ContainsName(s.Format),
		required: s.Required, enum: s.Enum, keys: keysOf(s),
		opaque: s.UniqueItems,
	}
	for _, t := range s.Type {
		kind, ok := kindOf[t]
		n.types |= kind
		n.opaque = n.opaque || !ok
	}
	n.compileText(s)
	n.compileNumber(s)
	n.compileChildren(s)
	n.compileJunctors(s)
	if _, ok := s.Extensions[celRules]; ok || n.alternatives {
		n.whole = true
	}
	n.below.rules = n.below.rules || n.whole
	n.below.shuffled = n.below.shuffled || n.opaque
	if n.resource, _ = s.Extensions.GetBool(embedded); n.resource {
		n.below.resources = true
	}
	return n
}

// compileText compiles the keywords about strings. A pattern that Go cannot parse makes the node opaque.
func (n *node) compileText(s *spec.Schema) {
	if s.MinLength == nil && s.MaxLength == nil && s.Pattern == "" {
		return
	}
	n.text = &textRules{minLength: s.MinLength, maxLength: s.MaxLength}
	if s.Pattern == "" {
		return
	}
	if n.text.instructions = PatternSize(s.Pattern); n.text.instructions == 0 {
		n.opaque = true
		return
	}
	n.text.pattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s.Pattern) })
}

// keysOf returns the members that identify the items of a list, or nil.
func keysOf(s *spec.Schema) []string {
	if list, _ := s.Extensions.GetString(listType); list != "map" || len(s.Type) == 0 || s.Type[0] != "array" {
		return nil
	}
	keys, _ := s.Extensions.GetStringSlice(listMapKeys)
	return keys
}

// compileNumber compiles the keywords about numbers.
func (n *node) compileNumber(s *spec.Schema) {
	if s.Minimum != nil || s.Maximum != nil || s.MultipleOf != nil {
		n.number = &numberRules{s.Minimum, s.Maximum, s.MultipleOf, s.ExclusiveMinimum, s.ExclusiveMaximum}
	}
}

// compileChildren compiles items, properties and their number.
func (n *node) compileChildren(s *spec.Schema) {
	if s.MinItems != nil || s.MaxItems != nil || s.MinProperties != nil || s.MaxProperties != nil {
		n.size = &sizeRules{s.MinItems, s.MaxItems, s.MinProperties, s.MaxProperties}
	}
	if len(s.Properties) > 0 {
		n.properties = make(map[string]*node, len(s.Properties))
	}
	for name, property := range s.Properties {
		n.properties[name] = n.compilePart(&property)
	}
	if a := s.AdditionalProperties; a != nil {
		if n.closed = !a.Allows; a.Schema != nil {
			n.additional = n.compilePart(a.Schema)
		}
	}
	if len(n.properties) > 1 || n.additional != nil || n.closed {
		n.below.members = true
	}
	if s.Items != nil && s.Items.Schema != nil {
		n.items = n.compilePart(s.Items.Schema)
	}
}

// compilePart compiles the schema of a part of the values of n.
func (n *node) compilePart(s *spec.Schema) *node {
	c := compile(s)
	n.count += c.count
	n.below.rules = n.below.rules || c.below.rules
	n.below.resources = n.below.resources || c.below.resources
	n.below.shuffled = n.below.shuffled || c.below.shuffled
	n.below.members = n.below.members || c.below.members
	// See node.whole.
	n.whole = n.whole || c.alternatives
	return c
}

// compileJunctors compiles the alternatives, and notes whether one of them has rules.
func (n *node) compileJunctors(s *spec.Schema) {
	if len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil {
		return
	}
	size, shuffled := 0, false
	alternative := func(s *spec.Schema) *node {
		c := compile(s)
		size += c.count
		shuffled = shuffled || c.below.members
		n.alternatives = n.alternatives || c.below.rules
		return c
	}
	compileAll := func(schemas []spec.Schema) (nodes []*node) {
		for i := range schemas {
			nodes = append(nodes, alternative(&schemas[i]))
		}
		return nodes
	}
	n.junctors = &junctors{all: compileAll(s.AllOf), any: compileAll(s.AnyOf), one: compileAll(s.OneOf)}
	if s.Not != nil {
		n.junctors.not = alternative(s.Not)
	}
	n.junctors.size, n.junctors.shuffled = size, shuffled
	n.below.shuffled = n.below.shuffled || shuffled
	n.below.members = n.below.members || shuffled
	n.count += size
}
