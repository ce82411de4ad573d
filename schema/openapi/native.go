package openapi

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

const objectMetaName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// Extensions of custom resource schemas only.
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
	spec *openAPI
}

// metaSpecs returns the parsed metaSchemas. Callers must not modify them.
var metaSpecs = sync.OnceValue(func() []namedSpec {
	schemas, err := value.Parse(metaSchemas)
	if err != nil {
		panic(fmt.Sprintf("openapi: the embedded schemas of object metadata: %v", err))
	}
	var out []namedSpec
	for name, source := range schemas.Members() {
		out = append(out, namedSpec{name, readOpenAPI(source)})
	}
	return out
})

// objectMeta returns the types of object metadata. preserve is whether the definition preserves all unknown fields.
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

// native converts n, the schema at the root of a custom resource, to an OpenAPI v3 schema with the fields of every resource.
// If n is nil, everything is deduced.
func native(n *node) *openAPI {
	if n == nil {
		return &openAPI{typ: "object"}
	}
	s := n.openAPI()
	addResourceFields(s)
	return s
}

// addResourceFields replaces the properties of s that every resource has.
func addResourceFields(s *openAPI) {
	if s.properties == nil {
		s.properties = map[string]*openAPI{}
	}
	s.properties["apiVersion"] = &openAPI{typ: "string"}
	s.properties["kind"] = &openAPI{typ: "string"}
	s.properties["metadata"] = &openAPI{ref: "#/components/schemas/" + objectMetaName}
}

// openAPI returns the topology of n as an OpenAPI v3 schema.
func (n *node) openAPI() *openAPI {
	s := &openAPI{typ: n.typ, format: n.format, nullable: n.nullable}
	if !n.deflt.IsAbsent() {
		s.deflt = n.deflt
	}
	if n.items != nil {
		s.items = &openAPIItems{n.items.openAPI()}
	}
	if len(n.properties) > 0 {
		s.properties = make(map[string]*openAPI, len(n.properties))
		for _, p := range n.properties {
			s.properties[p.name] = p.openAPI()
		}
	}
	if n.additional != nil {
		s.additional = &openAPIMembers{allows: n.additional.allow}
		if n.additional.node != nil {
			s.additional.schema = n.additional.openAPI()
		}
	}
	n.addExtensions(s)
	if n.embedded {
		addResourceFields(s)
	}
	return s
}

func (n *node) addExtensions(s *openAPI) {
	s.extensions = map[string]any{}
	if n.preserves() {
		s.extensions[preserveUnknown] = true
	}
	if len(n.listKeys) > 0 {
		keys := make([]any, len(n.listKeys))
		for i, key := range n.listKeys {
			keys[i] = key
		}
		s.extensions[listMapKeys] = keys
	}
	if !n.listType.IsAbsent() {
		s.extensions[listType] = n.listType.Str()
	}
	if !n.mapType.IsAbsent() {
		s.extensions[mapType] = n.mapType.Str()
	}
}
