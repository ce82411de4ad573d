package schematest

import (
	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/value"
)

// names are those of members.
var names = []string{"a", "b", "c", "kind"}

// ofType returns a schema that is only a type.
func ofType(typ string) value.Value {
	return value.Object(value.Member{Name: "type", Value: value.String(typ)})
}

// part returns a random schema of values of any kind.
func part(c *gen.Choices, depth int) value.Value {
	var s value.Value
	switch n := c.N(12); {
	case n < 4 && depth > 0:
		s = Object(c, depth)
	case n < 6 && depth > 0:
		s = list(c, depth)
	case n < 9:
		s = constrained(c, ofType("string"), "string")
	case n < 10:
		s = constrained(c, ofType("integer"), "integer")
	case n < 11:
		s = constrained(c, ofType("number"), "number")
	default:
		s = gen.Pick(c, ofType("boolean"), value.Object(value.Member{Name: "x-kubernetes-int-or-string", Value: value.Bool(true)}))
	}
	if c.Chance(15) {
		s = s.With("nullable", value.Bool(true))
	}
	if c.Chance(12) {
		s = junctor(c, s, depth)
	}
	if rule := ruleFor(s.Get("type").Str()); rule != "" && c.Chance(20) {
		s = WithRule(s, rule)
	}
	return s
}

// ruleFor returns a CEL rule that fails for some values of a type, or for some changes of them.
func ruleFor(typ string) string {
	return map[string]string{
		"string": "self.size() < 5", "integer": "self >= oldSelf", "boolean": "self", "array": "self.size() != 2",
		"object": "self == oldSelf || true",
	}[typ]
}

// WithRule returns a schema with a CEL rule.
func WithRule(s value.Value, rule string) value.Value {
	r := value.Object(value.Member{Name: "rule", Value: value.String(rule)})
	return s.With("x-kubernetes-validations", value.List(r))
}

// constrained adds keywords for a type to a schema.
func constrained(c *gen.Choices, s value.Value, typ string) value.Value {
	add := func(percent int, name string, v value.Value) {
		if c.Chance(percent) {
			s = s.With(name, v)
		}
	}
	switch typ {
	case "string":
		add(20, "minLength", value.Int(int64(c.N(3))))
		add(20, "maxLength", value.Int(int64(1+c.N(4))))
		add(20, "pattern", value.String(gen.Pick(c, "^a", "b$", "^[a-z0-9]*$")))
		add(20, "enum", value.List(value.String("a"), value.String("ab"), gen.Pick(c, value.String("x"), value.Null(), value.Int(97))))
		add(25, "format", value.String(gen.Pick(c, "date", "date-time", "ipv4", "uuid", "byte", "int32", "unknown", "duration")))
	case "integer", "number":
		add(20, "minimum", value.Int(int64(c.N(3))))
		add(20, "maximum", gen.Pick(c, value.Int(2), value.Float(1.5), value.Int(1<<40)))
		add(10, "exclusiveMinimum", value.Bool(true))
		add(10, "exclusiveMaximum", value.Bool(true))
		add(15, "multipleOf", gen.Pick(c, value.Int(2), value.Float(0.5), value.Float(0.1)))
		add(15, "enum", value.List(value.Int(1), value.Int(2), gen.Pick(c, value.Float(1.5), value.Int(97))))
		add(25, "format", value.String(gen.Pick(c, "int32", "int64", "float", "double", "date")))
	}
	return s
}

// Object returns a random schema of objects, whose parts nest at most depth deep.
func Object(c *gen.Choices, depth int) value.Value {
	s := ofType("object")
	switch c.N(8) {
	case 0:
		s = s.With("additionalProperties", part(c, depth-1))
	case 1:
		s = s.With("additionalProperties", value.Bool(c.Chance(50)))
	case 2:
		s = s.With("x-kubernetes-preserve-unknown-fields", value.Bool(true))
		fallthrough
	default:
		properties := value.Object()
		for range 1 + c.N(3) {
			properties = properties.With(gen.Pick(c, names...), part(c, depth-1))
		}
		s = s.With("properties", properties)
	}
	if c.Chance(20) {
		s = s.With("required", value.List(value.String(gen.Pick(c, names...))))
	}
	if c.Chance(10) {
		s = s.With(gen.Pick(c, "minProperties", "maxProperties"), value.Int(int64(c.N(4))))
	}
	return s
}

// list is [Object] for lists.
func list(c *gen.Choices, depth int) value.Value {
	s := ofType("array").With("items", part(c, depth-1))
	switch c.N(4) {
	case 0:
		s = s.With("x-kubernetes-list-type", value.String("set"))
	case 1:
		s = s.With("x-kubernetes-list-type", value.String("map")).With("x-kubernetes-list-map-keys", value.List(value.String("a")))
	}
	if c.Chance(20) {
		s = s.With(gen.Pick(c, "minItems", "maxItems"), value.Int(int64(c.N(3))))
	}
	return s
}

// junctor adds an alternative to a schema, with keywords that are allowed in it.
func junctor(c *gen.Choices, s value.Value, depth int) value.Value {
	typ := s.Get("type").Str()
	alternative := func() value.Value {
		out := constrained(c, value.Object(), typ)
		if rule := ruleFor(typ); rule != "" && c.Chance(15) {
			out = WithRule(out, rule)
		}
		switch {
		case typ == "object" && c.Chance(50):
			return out.With("required", value.List(value.String(gen.Pick(c, names...))))
		case typ == "object" && depth > 0:
			inner := constrained(c, value.Object(), gen.Pick(c, "string", "integer"))
			return out.With("properties", value.Object(value.Member{Name: gen.Pick(c, names...), Value: inner}))
		}
		return out
	}
	switch c.N(4) {
	case 0:
		return s.With("not", alternative())
	case 1:
		return s.With("anyOf", value.List(alternative(), alternative()))
	case 2:
		return s.With("oneOf", value.List(alternative(), alternative()))
	}
	return s.With("allOf", value.List(alternative(), alternative()))
}

// Value returns a value that follows its schema in most places. Its parts nest at most depth deep.
func Value(c *gen.Choices, schema value.Value, depth int) value.Value {
	if c.Chance(4) || depth == 0 {
		return scalar(c)
	}
	switch schema.Get("type").Str() {
	case "object":
		out := value.Object()
		for name, property := range schema.Get("properties").Members() {
			if c.Chance(80) {
				out = out.With(name, Value(c, property, depth-1))
			}
		}
		for range c.N(3) {
			if c.Chance(50) {
				out = out.With(gen.Pick(c, names...), Value(c, schema.Get("additionalProperties"), depth-1))
			}
		}
		return out
	case "array":
		var items []value.Value
		for range c.N(4) {
			items = append(items, Value(c, schema.Get("items"), depth-1))
		}
		return value.List(items...)
	case "integer":
		return gen.Pick(c, value.Int(0), value.Int(1), value.Int(2), value.Int(97), value.Float(2), value.Int(1<<33))
	case "number":
		return gen.Pick(c, value.Int(0), value.Int(1), value.Int(2), value.Float(1.5), value.Float(0.3), value.Float(1e40))
	case "boolean":
		return value.Bool(c.Chance(50))
	}
	return value.String(gen.Pick(c, "", "a", "ab", "x", "abcde", "üü", "2026-01-02", "2026-01-02T03:04:05Z", "10.0.0.1", "YWI=", "5s"))
}

// scalar returns a value without parts.
func scalar(c *gen.Choices) value.Value {
	return gen.Pick(c, value.Null(), value.Bool(true), value.Int(1), value.Float(1.5), value.String("a"), value.Object(), value.List())
}
