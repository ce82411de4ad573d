package histories

import (
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/value"
)

// RandomCRD returns a definition with one to three versions of one kind, as JSON. Later versions are variants of the first one: some list
// and map types differ, and fields are removed and added.
func RandomCRD(c *gen.Choices) []byte {
	d := definer{c}
	root := d.object(3)
	properties := root.Get("properties").With("spec", d.object(3))
	if c.Chance(70) {
		properties = properties.With("status", d.object(2))
	}
	if c.Chance(60) {
		properties = properties.With("metadata", object("type", "object"))
	}
	root = root.With("properties", properties).With("x-kubernetes-map-type", value.Value{}).With("nullable", value.Value{})
	schemas := []value.Value{root, root, root}[:1+c.N(3)]
	var versions []value.Value
	for i, s := range schemas {
		if i > 0 && c.Chance(75) {
			s = d.another(s)
		}
		v := object("name", []string{"v1", "v2", "v1beta1"}[i], "served", true, "storage", i == 0)
		if !c.Chance(4) { // a version without a schema
			v = v.With("schema", object("openAPIV3Schema", s))
		}
		versions = append(versions, v)
	}
	spec := object("group", "deed.example.org", "scope", "Namespaced",
		"names", object("plural", "things", "singular", "thing", "kind", "Thing", "listKind", "ThingList"),
		"versions", value.List(versions...))
	if c.Chance(3) {
		spec = spec.With("preserveUnknownFields", value.Bool(true))
	}
	crd := object("apiVersion", "apiextensions.k8s.io/v1", "kind", "CustomResourceDefinition",
		"metadata", object("name", "things.deed.example.org"), "spec", spec)
	return crd.AppendJSON(nil)
}

// object returns an object of alternating names and values: strings, booleans, and values.
func object(pairs ...any) value.Value {
	var members []value.Member
	for i := 0; i < len(pairs); i += 2 {
		var v value.Value
		switch x := pairs[i+1].(type) {
		case string:
			v = value.String(x)
		case bool:
			v = value.Bool(x)
		case value.Value:
			v = x
		}
		members = append(members, value.Member{Name: pairs[i].(string), Value: v})
	}
	return value.Object(members...)
}

// definer makes the schemas of a definition.
type definer struct{ *gen.Choices }

var propertyNames = []string{"a", "b", "c", "d", "e"}

func (d definer) schema(depth int) value.Value {
	var s value.Value
	switch n := d.N(100); {
	case depth <= 0 || n < 30:
		s = d.scalar()
	case n < 50:
		s = d.object(depth)
	case n < 62:
		s = d.mapOf(depth)
	case n < 72:
		s = object("type", "array", "items", d.schema(depth-1))
		if d.Chance(40) {
			s = s.With("x-kubernetes-list-type", value.String("atomic"))
		}
	case n < 80:
		s = object("type", "array", "items", d.scalar(), "x-kubernetes-list-type", "set")
	case n < 94:
		s = d.keyed(depth)
	case n < 97:
		s = object("x-kubernetes-preserve-unknown-fields", true)
	default:
		s = object("type", "object", "x-kubernetes-embedded-resource", true, "x-kubernetes-preserve-unknown-fields", true)
	}
	if d.Chance(10) {
		s = s.With("nullable", value.Bool(true))
	}
	return s
}

func (d definer) scalar() value.Value {
	switch d.N(8) {
	case 0, 1, 2:
		return object("type", "string")
	case 3:
		return object("type", "integer")
	case 4:
		return object("type", "number")
	case 5:
		return object("type", "boolean")
	case 6:
		return object("type", "string", "format", gen.Pick(d.Choices, "date-time", "email", "byte"))
	}
	return object("x-kubernetes-int-or-string", true)
}

func (d definer) object(depth int) value.Value {
	s := object("type", "object", "properties", d.properties(depth))
	switch d.N(10) {
	case 0:
		s = s.With("x-kubernetes-map-type", value.String("atomic"))
	case 1:
		s = s.With("x-kubernetes-map-type", value.String("granular"))
	case 2:
		s = s.With("x-kubernetes-preserve-unknown-fields", value.Bool(true))
	}
	return s
}

func (d definer) properties(depth int) value.Value {
	properties := value.Object()
	for _, name := range propertyNames {
		if d.Chance(45) {
			properties = properties.With(name, d.schema(depth-1))
		}
	}
	return properties
}

func (d definer) mapOf(depth int) value.Value {
	s := object("type", "object")
	switch d.N(4) {
	case 0:
		s = s.With("additionalProperties", value.Bool(true))
	case 1:
	default:
		s = s.With("additionalProperties", d.schema(depth-1))
	}
	if d.Chance(15) {
		s = s.With("x-kubernetes-map-type", value.String("atomic"))
	}
	return s
}

// keyed is a list whose items have one or two keys; the second may have a default.
func (d definer) keyed(depth int) value.Value {
	key := object("type", gen.Pick(d.Choices, "string", "string", "integer", "boolean"))
	properties := d.properties(depth-1).With("k", key)
	keys := []value.Value{value.String("k")}
	if d.Chance(40) {
		second := object("type", "integer")
		if d.Chance(60) {
			second = second.With("default", value.Int(3))
		}
		properties, keys = properties.With("p", second), append(keys, value.String("p"))
	}
	items := object("type", "object", "properties", properties)
	if d.Chance(10) {
		items = items.With("x-kubernetes-map-type", value.String("atomic"))
	}
	return object("type", "array", "items", items, "x-kubernetes-list-type", "map", "x-kubernetes-list-map-keys", value.List(keys...))
}

// another returns a variant of s for another version.
func (d definer) another(s value.Value) value.Value {
	if properties := s.Get("properties"); properties.Len() > 0 {
		for name, p := range properties.Members() {
			if !d.Chance(4) || name == "k" || name == "p" {
				properties = properties.With(name, d.another(p))
			} else {
				properties = properties.With(name, value.Value{})
			}
		}
		if d.Chance(4) {
			properties = properties.With(gen.Pick(d.Choices, propertyNames...), d.schema(1))
		}
		s = s.With("properties", properties)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if below := s.Get(name); below.Kind() == value.KindObject {
			s = s.With(name, d.another(below))
		}
	}
	if !d.Chance(15) {
		return s
	}
	switch {
	case s.Get("type").Str() == "array":
		return s.With("x-kubernetes-list-type", value.Value{}).With("x-kubernetes-list-map-keys", value.Value{})
	case s.Get("x-kubernetes-map-type").Str() == "atomic":
		return s.With("x-kubernetes-map-type", value.Value{})
	case s.Get("type").Str() == "object":
		return s.With("x-kubernetes-map-type", value.String("atomic"))
	}
	return s
}
