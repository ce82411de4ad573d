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

// V3 converts OpenAPI v3 documents to one schema. A Kubernetes API server has a document for each API group and version. V3
// reads only components.schemas of each.
//
// A type may be in several documents. Its conversions must agree, except for types that all API servers define: those of
// meta/v1 and autoscaling/v1. The first definition of such a type wins. A reference may lead to any document.
//
// The rules for each schema:
//
//   - A type definition that is only a reference is left out. Quantity is any scalar. RawExtension is any value as one leaf.
//   - A schema without a type admits any scalar, and the list and the map that the rest of the schema describes. If a schema
//     has several types, the first one counts.
//   - integer and number are numeric. A string of another format than byte is any scalar.
//   - The members of a map that are not properties have the type of additionalProperties. true makes them deduced, and false
//     forbids them. Without additionalProperties, they are deduced if there are no properties or unknown fields are
//     preserved, and forbidden otherwise.
//   - Preserving unknown fields applies to the schema with the keyword and all schemas written inside it, but not through
//     references.
//   - The items of a list have the type of items, which must be one schema.
//   - A reference is $ref or, without it, an allOf with one $ref and nothing else. Beside it, only map type, nullable and
//     default count.
//   - List types, map types and patch strategies define the relationship of lists and maps. An unknown word is a problem.
//
// Problems fail the conversion. V3 reports all problems, joined. A problem is a [*Problem], or a plain error about a document
// that is not OpenAPI v3. If several types have the same kind, the last type by name wins.
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

// loadedV3 is one type with its source.
type loadedV3 struct {
	doc    int // counted from 1
	source value.Value
	def    schema.TypeDef // without parts if the type is left out
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
		l.problems.report(place{def: name}, "%s", strings.ReplaceAll(err.Error(), "json: unable to", "json: cannot")) // the wording varies
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

// isShared reports whether all API servers define name. They may define it as different releases do.
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

// fromSpec returns the topology of s, a schema of a document.
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
