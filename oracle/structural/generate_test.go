package structural_test

import (
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/value"
)

type member = value.Member

// randomSchema makes the schema of an object. It has few names, so that objects use them.
func randomSchema(c *gen.Choices) value.Value {
	s := objectSchema(c, 4).With("x-kubernetes-embedded-resource", value.Value{}).With("default", value.Value{})
	if c.Chance(5) {
		return s.With("default", randomValue(c, 2, true))
	}
	return s
}

func schemaOf(c *gen.Choices, depth int) value.Value {
	var s value.Value
	switch n := c.N(10); {
	case n < 4 || depth == 0:
		s = value.Object(member{Name: "type", Value: value.String(gen.Pick(c, "string", "integer", "boolean", "number"))})
	case n < 7:
		s = objectSchema(c, depth)
	case n < 9:
		s = listSchema(c, depth)
	default:
		s = value.Object(member{Name: "x-kubernetes-int-or-string", Value: value.Bool(true)})
	}
	if c.Chance(30) {
		s = s.With("nullable", value.Bool(true))
	}
	if c.Chance(35) {
		s = s.With("default", randomValue(c, 2, false))
	}
	if c.Chance(15) {
		s = s.With("x-kubernetes-preserve-unknown-fields", value.Bool(true))
	}
	return s
}

func objectSchema(c *gen.Choices, depth int) value.Value {
	s := value.Object(member{Name: "type", Value: value.String("object")})
	switch c.N(6) {
	case 0:
		return s.With("additionalProperties", schemaOf(c, depth-1))
	case 1:
		return s.With("additionalProperties", value.Bool(c.Chance(50)))
	}
	properties := value.Object()
	for range c.N(5) {
		properties = properties.With(gen.Pick(c, names...), schemaOf(c, depth-1))
	}
	if properties.Len() > 0 {
		s = s.With("properties", properties)
	}
	if c.Chance(25) {
		s = s.With("x-kubernetes-embedded-resource", value.Bool(true))
	}
	return s
}

func listSchema(c *gen.Choices, depth int) value.Value {
	s := value.Object(member{Name: "type", Value: value.String("array")})
	if c.Chance(95) {
		s = s.With("items", schemaOf(c, depth-1))
	}
	switch c.N(3) {
	case 0:
		s = s.With("x-kubernetes-list-type", value.String("set"))
	case 1:
		s = s.With("x-kubernetes-list-type", value.String("map"))
		keys := []value.Value{value.String("a")}
		if c.Chance(40) {
			keys = append(keys, value.String("b"))
		}
		s = s.With("x-kubernetes-list-map-keys", value.List(keys...))
	}
	return s
}

var names = []string{"a", "b", "c", "x.y", "<&>", "metadata", "kind", "apiVersion"}

// randomObject makes an object that follows schema in most places.
func randomObject(c *gen.Choices, schema value.Value) value.Value {
	object := follow(c, schema, 5)
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	for name, percent := range map[string]int{"apiVersion": 95, "kind": 95} {
		object = object.With(name, value.Value{})
		if c.Chance(percent) {
			object = object.With(name, value.String("g/v1"))
		}
	}
	if c.Chance(3) {
		object = object.With(gen.Pick(c, "kind", "apiVersion"), scalar(c))
	}
	object = object.With("metadata", value.Value{})
	if c.Chance(95) {
		object = object.With("metadata", randomMetadata(c))
	}
	return object
}

// follow makes a value of a schema, or in some places any value.
func follow(c *gen.Choices, schema value.Value, depth int) value.Value {
	switch {
	case c.Chance(8):
		return value.Null()
	case depth == 0 || c.Chance(8) || schema.Kind() != value.KindObject:
		return randomValue(c, 2, false)
	}
	switch schema.Get("type").Str() {
	case "object":
		return followObject(c, schema, depth)
	case "array":
		var items []value.Value
		for range c.N(4) {
			items = append(items, follow(c, schema.Get("items"), depth-1))
		}
		return value.List(items...)
	}
	return scalar(c)
}

func followObject(c *gen.Choices, schema value.Value, depth int) value.Value {
	object := value.Object()
	for name, property := range schema.Get("properties").Members() {
		if c.Chance(70) {
			object = object.With(name, follow(c, property, depth-1))
		}
	}
	for range c.N(3) {
		object = object.With(gen.Pick(c, names...), follow(c, schema.Get("additionalProperties"), depth-1))
	}
	if schema.Get("x-kubernetes-embedded-resource").Bool() && c.Chance(70) {
		object = object.With("metadata", randomMetadata(c))
	}
	return object
}

// randomValue makes any value, or any object.
func randomValue(c *gen.Choices, depth int, object bool) value.Value {
	n := c.N(4)
	switch {
	case object || depth > 0 && n == 0:
		out := value.Object()
		for range c.N(4) {
			out = out.With(gen.Pick(c, names...), randomValue(c, depth-1, false))
		}
		return out
	case depth > 0 && n == 1:
		var items []value.Value
		for range c.N(4) {
			items = append(items, randomValue(c, depth-1, false))
		}
		return value.List(items...)
	}
	return scalar(c)
}

func scalar(c *gen.Choices) value.Value {
	return gen.Pick(c, value.Null(), value.Bool(true), value.Bool(false),
		value.Int(0), value.Int(1), value.Float(1), value.Float(1.5),
		value.Float(1e21), value.String(""), value.String("a"), value.String("b\"<\u00e9\n"))
}

// randomMetadata makes metadata with mostly valid fields.
func randomMetadata(c *gen.Choices) value.Value {
	if c.Chance(3) {
		return randomValue(c, 1, false)
	}
	out := value.Object()
	for range c.N(5) {
		name := gen.Pick(c, metadataNames...)
		out = out.With(name, metadataField(c, name))
	}
	return out
}

var metadataNames = []string{
	"annotations", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers",
	"generateName", "generation",
	"labels", "managedFields", "name", "namespace", "ownerReferences", "resourceVersion", "selfLink", "uid", "unknown", "Name",
}

func metadataField(c *gen.Choices, name string) value.Value {
	if c.Chance(4) {
		return randomValue(c, 2, false)
	}
	switch name {
	case "annotations", "labels":
		out := value.Object()
		for range c.N(3) {
			out = out.With(gen.Pick(c, names...), textOr(c))
		}
		return out
	case "creationTimestamp", "deletionTimestamp", "time":
		return gen.Pick(c, value.Null(), value.String("2026-01-02T03:04:05Z"), value.String("2026-01-02T03:04:05.678+02:00"),
			value.String("0001-01-01T00:00:00Z"), value.String("2026-01-02T03:04:05Z"), value.String("yesterday"))
	case "deletionGracePeriodSeconds", "generation":
		return gen.Pick(c, value.Int(0), value.Int(7), value.Float(7), value.Null())
	case "finalizers":
		return value.List(textOr(c), value.String("a/b"))
	case "managedFields":
		return structures(c, "manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource", "more")
	case "ownerReferences":
		return structures(c, "apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion", "more")
	}
	return textOr(c)
}

func textOr(c *gen.Choices) value.Value {
	if c.Chance(4) {
		return scalar(c)
	}
	return value.String(gen.Pick(c, "", "a", "b", "some text"))
}

func structures(c *gen.Choices, fields ...string) value.Value {
	var items []value.Value
	for range c.N(3) {
		item := value.Object()
		for range c.N(5) {
			switch name := gen.Pick(c, fields...); name {
			case "time":
				item = item.With(name, metadataField(c, name))
			case "fieldsV1":
				item = item.With(name, randomValue(c, 2, true))
			case "controller", "blockOwnerDeletion":
				item = item.With(name, gen.Pick(c, value.Bool(true), value.Bool(false), value.Null(), value.Bool(true)))
			default:
				item = item.With(name, textOr(c))
			}
		}
		if c.Chance(3) {
			item = scalar(c)
		}
		items = append(items, item)
	}
	return value.List(items...)
}
