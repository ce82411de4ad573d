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

// V2 converts an OpenAPI v2 document, known as swagger.json, to a schema. It reads only the definitions.
//
// The rules for each schema that differ from those of [V3]:
//
//   - Properties make an object, with or without the type object. A schema with neither type nor properties is any value,
//     deduced.
//   - Only an object with properties can preserve unknown fields. The unknown fields of it and of the schemas written inside
//     it are deduced. Its additionalProperties are ignored.
//   - The members of an object without properties have the type of additionalProperties. They are deduced if that is missing
//     or a boolean.
//   - A reference is $ref alone, optionally with a map type. Properties or a type beside it are a problem. A reference to a
//     missing definition is a problem, too. A reference to RawExtension is any value as one leaf.
//   - Several types, a list without items, and an unknown type are problems.
//   - Unions are checked and otherwise ignored.
//
// Problems fail the conversion. V2 reports only the first problem of references and types, as a plain error. It reports all
// other problems, joined, each a [*Problem]. Two types with the same kind are an error.
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

// loadV2 reads the definitions of doc. It replaces the rest by a minimal document.
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

// parseV2 reads a document. The parser reports defects of most schemas, but panics on some that are not objects, such as a
// string in a list of items. parseV2 returns those panics as errors.
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

// noise matches the parts of parser errors that mean nothing to a user. These are positions in the text that loadV2 made, and
// the syntax tree of a value of the wrong kind. The tree has memory addresses, so that the same error would differ from run
// to run.
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

// converterV2 converts models. The argument preserve of its methods is whether unknown fields are preserved.
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
	return schema.Atom{} // a definition that is only a reference is left out
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

// ref returns the reference to s, or to the type that s describes in place.
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
