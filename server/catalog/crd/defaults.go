package crd

import (
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// The defaults of a definition, as it is stored. The library that validates a default gives the metadata of embedded resources its form in
// place, so that kube-apiserver stores that form:
//
//	default: {metadata: {name: a, labels: null, annotations: {}}}    sent
//	default: {metadata: {name: a}}                                   stored

// withSoundDefaults returns a definition whose defaults have the metadata of embedded resources as reading would give it: without empty
// labels, for example. kube-apiserver validates such defaults in that form, and stores what it has validated.
func withSoundDefaults(object value.Value) value.Value {
	versions := object.Get("spec", "versions")
	sound := rewritten(versions, func(_ string, version value.Value) value.Value {
		schema := version.Get("schema", "openAPIV3Schema")
		sound := soundDefaults(schema)
		if sound.Same(schema) {
			return version
		}
		return version.With("schema", version.Get("schema").With("openAPIV3Schema", sound))
	})
	if sound.Same(versions) {
		return object
	}
	return object.With("spec", object.Get("spec").With("versions", sound))
}

// soundDefaults returns a schema with such defaults. A default inside of metadata is left alone.
func soundDefaults(s value.Value) value.Value {
	return rewritten(s, func(name string, member value.Value) value.Value {
		switch name {
		case "default":
			return soundMetadata(member, s)
		case "items", "additionalProperties":
			return soundDefaults(member)
		case "properties":
			return rewritten(member, func(name string, property value.Value) value.Value {
				if name == "metadata" {
					return property
				}
				return soundDefaults(property)
			})
		}
		return member
	})
}

// soundMetadata walks a default as [structural.Schema.Coerce] walks an object. That wants a compiled schema, and compiling one for each of many
// nested defaults would be quadratic. It returns a value with the metadata of the embedded resources that its schema tells of. Metadata that cannot
// be read stays, and is refused later.
func soundMetadata(v, s value.Value) value.Value {
	embedded := s.Get("x-kubernetes-embedded-resource").Bool()
	return rewritten(v, func(name string, part value.Value) value.Value {
		if embedded && name == "metadata" {
			if part.IsNull() {
				return value.Object()
			}
			if sound, _, err := structural.Metadata(part); err == nil {
				return sound
			}
			return part
		}
		below := s.Get("properties", name)
		if v.Kind() == value.KindList {
			below = s.Get("items")
		} else if below.IsAbsent() {
			below = s.Get("additionalProperties")
		}
		return soundMetadata(part, below)
	})
}

// rewritten returns an object or a list with other parts, and v itself if all parts stay the same. An item has no name.
func rewritten(v value.Value, part func(name string, part value.Value) value.Value) value.Value {
	changed := false
	switch v.Kind() {
	case value.KindObject:
		var out []value.Member
		for name, member := range v.Members() {
			other := part(name, member)
			changed = changed || !other.Same(member)
			out = append(out, value.Member{Name: name, Value: other})
		}
		if changed {
			return value.Object(out...)
		}
	case value.KindList:
		var out []value.Value
		for item := range v.Items() {
			other := part("", item)
			changed = changed || !other.Same(item)
			out = append(out, other)
		}
		if changed {
			return value.List(out...)
		}
	}
	return v
}
