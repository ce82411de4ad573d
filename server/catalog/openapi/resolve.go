package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Schema returns the schema of a kind in v3, with schemas in the place of the references to them. It is absent if the catalog lacks the kind.
// Where a schema contains itself, an object stands for it.
//
// The cost is that of the document of the kind's group and version.
func Schema(c *catalog.Catalog, kind schema.GVK) value.Value {
	path := strings.Trim(rootOf(kind.Group, kind.Version), "/")
	if !slices.Contains(Paths(c), path) {
		return value.Value{}
	}
	schemas := at(c, path).schemas
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		for of := range schemas[name].Get(gvkExtension).Items() {
			if of.Equal(gvk(kind)) {
				return resolver{schemas, map[string]bool{name: true}}.resolve(schemas[name])
			}
		}
	}
	return value.Value{}
}

// resolver puts schemas in the place of references. within has the names of the schemas that the current one is part of.
type resolver struct {
	schemas components
	within  map[string]bool
}

// resolve returns a schema without references. A reference counts also within allOf, where it has a description beside it.
func (r resolver) resolve(s value.Value) value.Value {
	if name, isReference := referenceOf(s); isReference {
		if r.within[name] {
			return object("type", value.String("object"))
		}
		r.within[name] = true
		defer delete(r.within, name)
		s = r.schemas[name]
	}
	if properties := s.Get("properties"); properties.Kind() == value.KindObject {
		resolved := make([]value.Member, 0, properties.Len())
		for name, property := range properties.Members() {
			resolved = append(resolved, value.Member{Name: name, Value: r.resolve(property)})
		}
		s = s.With("properties", value.Object(resolved...))
	}
	for _, name := range []string{"additionalProperties", "items"} {
		if of := s.Get(name); of.Kind() == value.KindObject {
			s = s.With(name, r.resolve(of))
		}
	}
	return s
}

// referenceOf returns the name of the schema that a schema refers to.
func referenceOf(s value.Value) (string, bool) {
	if to := s.Get("$ref").Str(); to != "" {
		return strings.TrimPrefix(to, refPrefix), true
	}
	for part := range s.Get("allOf").Items() {
		if name, ok := referenceOf(part); ok {
			return name, true
		}
	}
	return "", false
}
