//go:build !openapi_crdonly

package openapi

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// V3 converts OpenAPI v3 documents, as a Kubernetes API server has one for each API group and version, to one schema. It reads
// components.schemas and nothing else of them.
//
// A type may be in several documents. Its conversions must agree, except that the first one counts for the types that all API
// servers bring along, those of meta/v1 and autoscaling/v1. A reference is looked up in all documents.
//
// The rules, for each schema:
//
//   - A type definition that only refers to another is left out. Quantity is any scalar, RawExtension any value as one leaf.
//   - No type admits everything: any scalar, the list and the map that the rest of the schema describes. Otherwise the first
//     of several types counts.
//   - integer and number are numeric; a string of another format than byte is any scalar.
//   - A map's members without a property have the type of additionalProperties. If that is true, they are deduced, and if it
//     is false, there are none. If it is missing, they are deduced where there are no properties or unknown fields are
//     preserved, and there are none otherwise.
//   - Preserving unknown fields goes for the schema that says so and all schemas written inside it, but not through references.
//   - A list's items have the type of items, which must be one schema.
//   - A reference is $ref or, without it, an allOf with one $ref and nothing else. Only map type, nullable and default count
//     beside it; everything else is ignored.
//   - List types, map types and patch strategies give lists and maps their relationship; an unknown word is a problem.
//
// Problems, each a [*Problem], fail the conversion; all are reported, joined. If several types claim a kind, it has the last of
// them by name.
func V3(docs ...[]byte) (*Definitions, error) {
	l := loaderV3{types: map[string]loadedV3{}}
	for i, doc := range docs {
		l.load(doc, i+1)
	}
	if err := errors.Join(l.problems...); err != nil {
		return nil, err
	}
	var types []schema.TypeDef
	kinds := map[schema.GVK]string{}
	for _, name := range sortedNames(l.types) {
		t := l.types[name]
		if t.def.Atom != (schema.Atom{}) {
			types = append(types, t.def)
		}
		for _, gvk := range t.kinds {
			kinds[gvk] = name
		}
	}
	return newDefinitions(types, kinds), nil
}

// loaderV3 converts documents one after the other.
type loaderV3 struct {
	types    map[string]loadedV3
	problems problems
}

// loadedV3 is one type with what it was converted from.
type loadedV3 struct {
	doc    int // counted from 1
	source value.Value
	def    schema.TypeDef // without any part when the type is left out
	kinds  []schema.GVK
}

func (l *loaderV3) load(doc []byte, number int) {
	v, err := value.Parse(doc)
	if err != nil {
		l.problems = append(l.problems, fmt.Errorf("document %d: %w", number, err))
		return
	}
	if version := v.Get("openapi"); !strings.HasPrefix(version.Str(), "3.") {
		l.problems = append(l.problems, fmt.Errorf("document %d is not OpenAPI v3: its member openapi is %v", number, version))
		return
	}
	for name, source := range v.Get("components", "schemas").Members() {
		l.add(name, source, number)
	}
}

func (l *loaderV3) add(name string, source value.Value, number int) {
	known, again := l.types[name]
	if again && known.source.Equal(source) {
		return
	}
	var s spec.Schema
	if source.Kind() != value.KindObject {
		l.problems.report(place{def: name}, "expected a schema, got %v", source.Kind())
		return
	}
	if err := s.UnmarshalJSON(source.AppendJSON(nil)); err != nil {
		l.problems.report(place{def: name}, "%s", strings.ReplaceAll(err.Error(), "json: unable to", "json: cannot")) // it varies
		return
	}
	loaded := loadedV3{number, source, convertV3(&l.problems, name, fromSpec(&s), false), kinds(s.Extensions)}
	switch {
	case !again:
	case !isShared(name) && !equalDefs(known.def, loaded.def):
		l.problems.report(place{def: name}, "documents %d and %d define different types", known.doc, number)
		return
	default:
		known.kinds = append(known.kinds, loaded.kinds...)
		loaded = known
	}
	l.types[name] = loaded
}

// isShared reports whether all API servers define name, each for itself and perhaps as another release has it.
func isShared(name string) bool {
	return strings.HasPrefix(name, "io.k8s.apimachinery.pkg.apis.meta.v1") || strings.HasPrefix(name, "io.k8s.api.autoscaling.v1")
}

func equalDefs(a, b schema.TypeDef) bool {
	text := func(def schema.TypeDef) value.Value {
		d := schema.Document{Types: []schema.TypeDef{def}}
		return d.Value()
	}
	return text(a).Equal(text(b))
}

// fromSpec returns what s, a schema of a document, says about topology.
func fromSpec(s *spec.Schema) *openAPI {
	if s == nil {
		return nil
	}
	out := &openAPI{ref: s.Ref.String(), format: s.Format, nullable: s.Nullable, deflt: s.Default, extensions: s.Extensions}
	if len(s.Type) > 0 {
		out.typ = s.Type[0]
	}
	for i := range s.AllOf {
		out.allOf = append(out.allOf, fromSpec(&s.AllOf[i]))
	}
	if s.Items != nil {
		out.items = &openAPIItems{fromSpec(s.Items.Schema)}
	}
	if len(s.Properties) > 0 {
		out.properties = make(map[string]*openAPI, len(s.Properties))
		for name, property := range s.Properties {
			out.properties[name] = fromSpec(&property)
		}
	}
	if a := s.AdditionalProperties; a != nil {
		out.additional = &openAPIMembers{allows: a.Allows, schema: fromSpec(a.Schema)}
	}
	return out
}
