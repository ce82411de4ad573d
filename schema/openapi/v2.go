//go:build !openapi_crdonly

package openapi

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"k8s.io/kube-openapi/pkg/util/proto"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// V2 converts an OpenAPI v2 document, known as swagger.json, to a schema. It reads definitions and nothing else of it.
//
// The rules, for each schema, as far as they differ from those of [V3]:
//
//   - Properties make an object, with or without the type object. Neither type nor properties is any value, deduced.
//   - Only an object with properties can say that unknown fields are preserved: its own are deduced then, and those of the
//     schemas written inside it. Its additionalProperties are ignored.
//   - An object without properties has members of the type of additionalProperties, deduced when that is missing or a boolean.
//   - A reference counts as $ref alone, with a map type beside it; properties and type beside it are problems, as is a
//     reference to what is no definition. A reference to RawExtension is any value as one leaf.
//   - Several types are a problem, and so are a list without items and an unknown type.
//   - Unions are checked and otherwise ignored.
//
// Problems fail the conversion: of those about references and types only the first is reported, as a plain error; of the
// others all are, joined, each a [*Problem]. Two types that claim the same kind are an error.
func V2(doc []byte) (*Definitions, error) {
	models, err := loadV2(doc)
	if err != nil {
		return nil, err
	}
	var c converterV2
	var types []schema.TypeDef
	for _, name := range models.ListModels() {
		atom := c.atom(models.LookupModel(name), place{def: name}, false)
		if atom != (schema.Atom{}) {
			types = append(types, schema.TypeDef{Name: name, Atom: atom})
		}
	}
	if err := errors.Join(c.problems...); err != nil {
		return nil, err
	}
	kinds, err := kindsV2(models)
	if err != nil {
		return nil, err
	}
	return newDefinitions(types, kinds), nil
}

// loadV2 reads the definitions of doc, with the rest replaced by the least that makes a document.
func loadV2(doc []byte) (proto.Models, error) {
	v, err := value.Parse(doc)
	if err != nil {
		return nil, err
	}
	if version := v.Get("swagger"); version.Str() != "2.0" {
		return nil, fmt.Errorf("the document is not OpenAPI v2: its member swagger is %v", version)
	}
	definitions := v.Get("definitions")
	if definitions.IsAbsent() {
		definitions = value.Object()
	}
	text := value.Object(
		value.Member{Name: "swagger", Value: value.String("2.0")},
		value.Member{Name: "info", Value: value.Object(
			value.Member{Name: "title", Value: value.String("")}, value.Member{Name: "version", Value: value.String("")})},
		value.Member{Name: "paths", Value: value.Object()},
		value.Member{Name: "definitions", Value: definitions},
	)
	parsed, err := parseV2(text.AppendJSON(nil))
	if err != nil {
		return nil, err
	}
	return proto.NewOpenAPIData(parsed)
}

// parseV2 reads a document. The parser reports what is wrong with most schemas, but panics on some that are no objects, such as
// a string in a list of items; those panics are errors here.
func parseV2(text []byte) (doc *openapiv2.Document, err error) {
	defer func() {
		switch crash := recover().(type) {
		case nil:
		case runtime.Error:
			doc, err = nil, fmt.Errorf("the definitions hold what is no schema: %w", crash)
		default:
			panic(crash)
		}
	}()
	doc, err = openapiv2.ParseDocument(text)
	if err != nil {
		return nil, errors.New(regexp.MustCompile(noise).ReplaceAllString(err.Error(), ""))
	}
	return doc, nil
}

// noise matches what the parser's errors say and means nothing to the reader: positions in the text made by loadV2 and, of a value of
// the wrong kind, a syntax tree with memory addresses, which would make the same error differ from run to run.
const noise = `(?ms)^\[\d+,\d+\] |: &\{Kind:.*?Column:\d+\}( \(\*yaml\.Node\))?`

func kindsV2(models proto.Models) (map[schema.GVK]string, error) {
	out := map[schema.GVK]string{}
	for _, name := range models.ListModels() {
		for _, gvk := range kinds(models.LookupModel(name).GetExtensions()) {
			if other, taken := out[gvk]; taken {
				return nil, fmt.Errorf("duplicate entry for %v: %s and %s", gvk, other, name)
			}
			out[gvk] = name
		}
	}
	return out, nil
}

// converterV2 converts models. Its methods take along whether unknown fields are preserved.
type converterV2 struct{ problems problems }

func (c *converterV2) atom(s proto.Schema, at place, preserve bool) schema.Atom {
	switch s := s.(type) {
	case *proto.Kind:
		return schema.Atom{Map: c.kind(s, at, preserve)}
	case *proto.Map:
		return schema.Atom{Map: &schema.MapDef{
			ElementType:  c.ref(s.SubType, at.in("additionalProperties"), preserve),
			Relationship: c.problems.mapRelationship(s.Extensions, at),
		}}
	case *proto.Array:
		relationship, keys := c.problems.listRelationship(s.Extensions, at)
		return schema.Atom{List: &schema.ListDef{
			ElementType:  c.ref(s.SubType, at.in("items"), preserve),
			Relationship: relationship,
			Keys:         keys,
		}}
	case *proto.Primitive:
		if at == (place{def: quantityName}) {
			return schema.Atom{Scalar: schema.Untyped}
		}
		return schema.Atom{Scalar: primitive(s.Type, s.Format)}
	case *proto.Arbitrary:
		return schemas.DeducedTypes()[1].Atom
	}
	return schema.Atom{} // a definition that only refers to another is left out
}

func (c *converterV2) kind(k *proto.Kind, at place, preserve bool) *schema.MapDef {
	preserve = preserve || k.Extensions[preserveUnknown] == true
	m := &schema.MapDef{Relationship: c.problems.mapRelationship(k.Extensions, at)}
	for _, name := range slices.Sorted(slices.Values(k.FieldOrder)) {
		field, here := k.Fields[name], at.in("properties["+name+"]")
		m.Fields = append(m.Fields, schema.FieldDef{
			Name:    name,
			Type:    c.ref(field, here, preserve),
			Default: c.problems.defaultValue(field.GetDefault(), here),
		})
	}
	if preserve {
		m.ElementType = deduced
	}
	if err := checkUnions(k.Extensions); err != nil {
		c.problems.report(at, "%v", err)
	}
	return m
}

// ref returns the reference that s is, or else the type that it describes in place.
func (c *converterV2) ref(s proto.Schema, at place, preserve bool) schema.TypeRef {
	r, ok := s.(*proto.Ref)
	switch {
	case !ok:
		return schema.TypeRef{Inlined: c.atom(s, at.inlined(), preserve)}
	case r.Reference() == rawExtensionName:
		return untypedAtomic
	}
	return schema.TypeRef{
		NamedType:    lastSegment(r.Reference()),
		Relationship: c.problems.mapRelationship(r.Extensions, at),
	}
}
