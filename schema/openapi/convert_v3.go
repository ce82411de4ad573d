package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
)

// convertV3 converts the definition called name to a type. A definition that is only a reference gives a type without parts.
func convertV3(p *problems, name string, s *openAPI, preserve bool) schema.TypeDef {
	def := schema.TypeDef{Name: name}
	switch {
	case s.ref != "":
	case name == quantityName:
		def.Atom = schema.Atom{Scalar: schema.Untyped}
	case name == rawExtensionName:
		def.Atom = schemas.DeducedTypes()[0].Atom
	default:
		c := converterV3{p}
		def.Atom = c.atom(s, place{def: name}, preserve)
	}
	return def
}

// converterV3 converts one definition. The argument preserve of its methods is whether unknown fields are preserved.
type converterV3 struct{ problems *problems }

func (c converterV3) atom(s *openAPI, at place, preserve bool) schema.Atom {
	preserve = preserve || s.extensions[preserveUnknown] == true
	switch s.typ {
	case "":
		return schema.Atom{Scalar: schema.Untyped, List: c.list(s, at, preserve), Map: c.object(s, at, preserve)}
	case "object":
		return schema.Atom{Map: c.object(s, at, preserve)}
	case "array":
		return schema.Atom{List: c.list(s, at, preserve)}
	case "integer", "number", "boolean", "string":
		return schema.Atom{Scalar: primitive(s.typ, s.format)}
	}
	c.problems.report(at, "unrecognized type: '%v'", s.typ)
	return schema.Atom{Scalar: schema.Untyped}
}

func (c converterV3) object(s *openAPI, at place, preserve bool) *schema.MapDef {
	m := &schema.MapDef{
		ElementType:  c.elementType(s, at, preserve),
		Relationship: c.problems.mapRelationship(s.extensions, at),
	}
	for _, name := range sortedNames(s.properties) {
		property, here := s.properties[name], at.in("properties["+name+"]")
		m.Fields = append(m.Fields, schema.FieldDef{
			Name:    name,
			Type:    c.ref(property, here, preserve),
			Default: c.problems.defaultValue(property.deflt, here),
		})
	}
	return m
}

// elementType returns the type of the members that are not properties. It returns the zero TypeRef if such members are not
// allowed.
func (c converterV3) elementType(s *openAPI, at place, preserve bool) schema.TypeRef {
	switch additional := s.additional; {
	case additional == nil && (preserve || len(s.properties) == 0):
		return deduced
	case additional == nil:
		return schema.TypeRef{}
	case additional.schema != nil:
		return c.ref(additional.schema, at.in("additionalProperties"), preserve)
	case additional.allows:
		return deduced
	}
	return schema.TypeRef{}
}

func (c converterV3) list(s *openAPI, at place, preserve bool) *schema.ListDef {
	l := &schema.ListDef{ElementType: untypedAtomic}
	l.Relationship, l.Keys = c.problems.listRelationship(s.extensions, at)
	switch {
	case s.items != nil && s.items.schema == nil:
		c.problems.report(at, "structural schema arrays must have exactly one member subtype")
	case s.items != nil:
		l.ElementType = c.ref(s.items.schema, at.in("items"), preserve)
	case s.typ != "":
		c.problems.report(at, "`items` must be specified on arrays")
	}
	return l
}

// ref returns the reference to s, or to the type that s describes in place.
func (c converterV3) ref(s *openAPI, at place, preserve bool) schema.TypeRef {
	target := s.ref
	if target == "" && len(s.allOf) == 1 {
		target = s.allOf[0].ref
	}
	if name := lastSegment(target); name != "" {
		return schema.TypeRef{
			NamedType:    name,
			Relationship: c.problems.mapRelationship(s.extensions, at),
			Nullable:     s.nullable,
		}
	}
	return schema.TypeRef{Inlined: c.atom(s, at.inlined(), preserve), Nullable: s.nullable}
}

// lastSegment returns the name in a reference: the text after the last slash.
func lastSegment(ref string) string {
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
