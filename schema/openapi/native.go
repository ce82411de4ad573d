package openapi

import (
	_ "embed"
	"fmt"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// Extensions that only schemas of custom resources have a use for.
const (
	embeddedResource = "x-kubernetes-embedded-resource"
	intOrString      = "x-kubernetes-int-or-string"
)

// metaSchemas holds the topology of object metadata, as the schemas of an OpenAPI v3 document.
//
//go:embed meta.json
var metaSchemas []byte

// namedSpec is a schema with its name.
type namedSpec struct {
	name string
	spec *spec.Schema
}

// metaSpecs returns metaSchemas, which are read once. Nobody may modify them.
var metaSpecs = sync.OnceValue(func() []namedSpec {
	schemas, err := value.Parse(metaSchemas)
	if err != nil {
		panic(fmt.Sprintf("openapi: the embedded schemas of object metadata: %v", err))
	}
	var out []namedSpec
	for name, source := range schemas.Members() {
		s := &spec.Schema{}
		if err := s.UnmarshalJSON(source.AppendJSON(nil)); err != nil {
			panic(fmt.Sprintf("openapi: the embedded schema of %s: %v", name, err))
		}
		out = append(out, namedSpec{name, s})
	}
	return out
})

// objectMeta returns the types of object metadata, for definitions that preserve all unknown fields and for others.
func objectMeta(preserve bool) []schema.TypeDef {
	var out []schema.TypeDef
	var found problems
	for _, s := range metaSpecs() {
		out = append(out, convertV3(&found, s.name, s.spec, preserve))
	}
	if len(found) > 0 {
		panic(fmt.Sprintf("openapi: the embedded schemas of object metadata: %v", found[0]))
	}
	return out
}

// native returns n, the schema at the root of a custom resource, as an OpenAPI v3 schema with the fields of every resource.
// Without a schema everything is deduced.
func native(n *node) *spec.Schema {
	if n == nil {
		return &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	}
	s := n.openAPI()
	addResourceFields(s)
	return s
}

// addResourceFields replaces what s says about the fields that every resource has.
func addResourceFields(s *spec.Schema) {
	if s.Properties == nil {
		s.Properties = map[string]spec.Schema{}
	}
	s.Properties["apiVersion"] = *spec.StringProperty()
	s.Properties["kind"] = *spec.StringProperty()
	s.Properties["metadata"] = *spec.RefSchema("#/components/schemas/" + objectMetaName)
}

// openAPI returns n as an OpenAPI v3 schema, as far as topology is concerned.
func (n *node) openAPI() *spec.Schema {
	s := &spec.Schema{SchemaProps: spec.SchemaProps{Format: n.format, Nullable: n.nullable}}
	if n.typ != "" {
		s.Type = []string{n.typ}
	}
	if !n.deflt.IsAbsent() {
		s.Default = n.deflt
	}
	if n.items != nil {
		s.Items = &spec.SchemaOrArray{Schema: n.items.openAPI()}
	}
	if len(n.properties) > 0 {
		s.Properties = make(map[string]spec.Schema, len(n.properties))
		for _, p := range n.properties {
			s.Properties[p.name] = *p.openAPI()
		}
	}
	if n.additional != nil {
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: n.additional.allow}
		if n.additional.node != nil {
			s.AdditionalProperties.Schema = n.additional.openAPI()
		}
	}
	n.addExtensions(s)
	if n.embedded {
		addResourceFields(s)
	}
	return s
}

func (n *node) addExtensions(s *spec.Schema) {
	if n.preserves() {
		s.AddExtension(preserveUnknown, true)
	}
	if len(n.listKeys) > 0 {
		keys := make([]any, len(n.listKeys))
		for i, key := range n.listKeys {
			keys[i] = key
		}
		s.AddExtension(listMapKeys, keys)
	}
	if !n.listType.IsAbsent() {
		s.AddExtension(listType, n.listType.Str())
	}
	if !n.mapType.IsAbsent() {
		s.AddExtension(mapType, n.mapType.Str())
	}
}
