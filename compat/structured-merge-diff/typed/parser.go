package typed

import (
	"fmt"

	yaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// YAMLObject is an object as YAML text.
type YAMLObject string

// Parser makes values of the types of a schema.
type Parser struct {
	Schema schema.Schema
}

var schemaParser = mustParse(YAMLObject(schema.SchemaSchemaYAML))

// parse parses a schema.
func parse(text YAMLObject) (*Parser, error) {
	p := &Parser{}
	err := yaml.Unmarshal([]byte(text), &p.Schema)
	return p, err
}

func mustParse(text YAMLObject) *Parser {
	p, err := parse(text)
	if err != nil {
		panic(fmt.Errorf("failed to create parser: %v", err))
	}
	return p
}

// NewParser parses and validates a schema. It fails if the text is not a schema.
func NewParser(schema YAMLObject) (*Parser, error) {
	if _, err := schemaParser.Type("schema").FromYAML(schema); err != nil {
		return nil, fmt.Errorf("unable to validate schema: %v", err)
	}
	p, err := parse(schema)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// TypeNames returns the names of all types, in the order of the schema.
func (p *Parser) TypeNames() (names []string) {
	for i := range p.Schema.Types {
		names = append(names, p.Schema.Types[i].Name)
	}
	return names
}

// Type returns the ParseableType for the type called name. If there is no such type, the methods of the result fail.
func (p *Parser) Type(name string) ParseableType {
	return ParseableType{Schema: &p.Schema, TypeRef: schema.TypeRef{NamedType: &name}}
}

// ParseableType makes values of a type.
type ParseableType struct {
	TypeRef schema.TypeRef
	Schema  *schema.Schema
}

// IsValid reports whether the schema has the type.
func (p ParseableType) IsValid() bool {
	_, ok := p.Schema.Resolve(p.TypeRef)
	return ok
}

// FromYAML parses a YAML text to a value. It returns syntax errors and the errors of [AsTyped].
func (p ParseableType) FromYAML(object YAMLObject, opts ...ValidationOptions) (*TypedValue, error) {
	var v interface{}
	if err := yaml.Unmarshal([]byte(object), &v); err != nil {
		return nil, err
	}
	return p.FromUnstructured(v, opts...)
}

// FromUnstructured returns the value of in, see [value.NewValueInterface]. It returns the errors of [AsTyped].
func (p ParseableType) FromUnstructured(in interface{}, opts ...ValidationOptions) (*TypedValue, error) {
	return AsTyped(value.NewValueInterface(in), p.Schema, p.TypeRef, opts...)
}

// FromStructured returns the value of the Go struct that in points to, see [value.NewValueReflect]. It returns the errors of that
// function and of [AsTyped].
func (p ParseableType) FromStructured(in interface{}, opts ...ValidationOptions) (*TypedValue, error) {
	v, err := value.NewValueReflect(in)
	if err != nil {
		return nil, fmt.Errorf("error creating struct value reflector: %v", err)
	}
	return AsTyped(v, p.Schema, p.TypeRef, opts...)
}

// DeducedParseableType makes values without a schema: maps merge member by member, and lists and scalars are leaves.
var DeducedParseableType ParseableType = mustParse(`types:
- name: __untyped_atomic_
  scalar: untyped
  list: {elementRelationship: atomic, elementType: {namedType: __untyped_atomic_}}
  map: {elementRelationship: atomic, elementType: {namedType: __untyped_atomic_}}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementRelationship: atomic, elementType: {namedType: __untyped_atomic_}}
  map: {elementRelationship: separable, elementType: {namedType: __untyped_deduced_}}
`).Type("__untyped_deduced_")
