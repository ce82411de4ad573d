package pair

import (
	"maps"
	"slices"
	"strings"
)

// Schema is a part of an OpenAPI document.
type Schema struct {
	Ref        string             `json:"$ref"`
	AllOf      []*Schema          `json:"allOf"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Required   []string           `json:"required"`
	Properties map[string]*Schema `json:"properties"`
	Items      *Schema            `json:"items"`
	Additional *Schema            `json:"additionalProperties"`
	Kinds      []GVK              `json:"x-kubernetes-group-version-kind"`
	IntOrText  bool               `json:"x-kubernetes-int-or-string"`
}

// GVK is a kind that a schema is of.
type GVK struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Schemas are those of a document, by name.
type Schemas map[string]*Schema

// Resolve follows references.
func (all Schemas) Resolve(s *Schema) *Schema {
	for s != nil {
		switch {
		case s.Ref != "":
			name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
			if s = all[name]; strings.HasSuffix(name, ".Quantity") {
				return &Schema{Type: "string", Format: "quantity"}
			}
		case len(s.AllOf) > 0:
			s = s.AllOf[0]
		default:
			return s
		}
	}
	return &Schema{}
}

// Of returns the schema of the objects of a kind.
func (all Schemas) Of(kind string) *Schema {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, k := range all[name].Kinds {
			if k.Kind == kind && strings.HasSuffix(name, "."+kind) {
				return all[name]
			}
		}
	}
	return nil
}
