package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// shape is a random schema, and what makes values that it allows.
type shape struct {
	schema map[string]any
	value  func() any
	fields map[string]*shape // of an object
}

// maker makes shapes.
type maker struct {
	*rand.Rand
	loose bool // for items of lists without keys, whose rules cannot have an old value
}

func (m maker) chance(p float64) bool { return m.Float64() < p }

func pick[T any](m maker, of ...T) T { return of[m.IntN(len(of))] }

// add adds a member to the shape of an object.
func (s *shape) add(name string, member *shape) {
	s.fields[name] = member
	s.schema["properties"].(map[string]any)[name] = member.schema
}

// rule adds one of some CEL rules. said is an expression for a message about a value.
func (s *shape) rule(m maker, said string, rules ...string) {
	if m.loose {
		rules = slices.DeleteFunc(rules, func(rule string) bool { return strings.Contains(rule, "oldSelf") })
	}
	r := map[string]any{"rule": pick(m, rules...)}
	switch n := m.IntN(100); {
	case n < 30:
		r["message"] = "the rule says so"
	case n < 40:
		r["messageExpression"] = said
	case n < 50:
		r["messageExpression"] = pick(m, "'static'", "''")
	case n == 50:
		r["messageExpression"] = "self.nope"
	}
	if m.chance(0.2) {
		r["reason"] = pick(m, "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate")
	}
	if strings.Contains(r["rule"].(string), "oldSelf.hasValue") {
		r["optionalOldSelf"] = true
	}
	others, _ := s.schema["x-kubernetes-validations"].([]any)
	s.schema["x-kubernetes-validations"] = append(others, r)
}

// shape returns a shape of at most so many levels.
func (m maker) shape(depth int) *shape {
	var s *shape
	switch n := m.IntN(20); {
	case depth == 0 || n < 5:
		s = m.scalar()
	case n < 10:
		s = m.object(depth - 1)
	case n < 12:
		s = m.stringMap(depth - 1)
	case n < 18:
		s = m.list(depth - 1)
	default:
		s = m.free()
	}
	if m.chance(0.12) {
		s.schema["nullable"] = true
	}
	if m.chance(0.12) {
		s.schema["default"] = s.value()
	}
	if m.chance(0.05) {
		s.schema["description"] = "what it is"
	}
	return s
}

func (m maker) scalar() *shape {
	switch m.IntN(12) {
	case 0:
		return &shape{schema: map[string]any{"type": "boolean"}, value: func() any { return m.chance(0.5) }}
	case 1:
		return &shape{schema: map[string]any{"x-kubernetes-int-or-string": true}, value: func() any { return pick[any](m, 0, 1, 80, "50%", "x") }}
	case 2, 3, 4:
		return m.number()
	}
	return m.text()
}

func (m maker) number() *shape {
	s := &shape{schema: map[string]any{"type": "integer"}, value: func() any { return pick(m, 2, 4, 6, 8) }}
	if m.chance(0.25) {
		s.schema["type"] = "number"
		s.value = func() any { return pick[any](m, 2, 4.5, 6, 8.25) }
	}
	switch m.IntN(9) {
	case 0:
		s.schema["minimum"], s.schema["maximum"] = 1, 9
	case 1:
		s.schema["minimum"], s.schema["exclusiveMinimum"] = 1, true
	case 2:
		s.schema["multipleOf"] = pick[any](m, 2, 0.25)
	case 3:
		s.schema["enum"] = []any{2, 4, 4.5, 6, 8, 8.25}
	case 4:
		s.schema["format"] = pick(m, "int32", "int64", "float", "double")
	case 5:
		s.rule(m, "'the number ' + string(self)", "self >= oldSelf", "self == oldSelf", "self != 4", "self < 9", "!oldSelf.hasValue() || oldSelf.value() <= self")
	}
	return s
}

// formats are formats of strings, with values.
var formats = map[string][]string{
	"date-time": {"2024-01-01T00:00:00Z", "2020-02-02T02:02:02.5Z"}, "date": {"2024-01-01", "2020-02-29"}, "duration": {"1h", "5s"},
	"byte": {"aGk=", "eA=="}, "uuid": {"7f0ed3a4-1c3c-4b43-9a3c-0a1f7a2b3c4d"}, "ipv4": {"10.0.0.1"}, "ipv6": {"fd00::1"},
	"cidr": {"10.0.0.0/8", "fd00::/64"}, "email": {"a@example.org"}, "uri": {"https://example.org/x"}, "hostname": {"example.org"},
	"password": {"x"}, "mac": {"00:00:5e:00:53:01"}, "hexcolor": {"#aabbcc"}, "k8s-short-name": {"a-b"}, "k8s-long-name": {"a.b"}, "unknown": {"x"},
}

func (m maker) text() *shape {
	s := &shape{schema: map[string]any{"type": "string"}, value: func() any { return pick(m, "a", "ab", "x", "yz") }}
	switch m.IntN(12) {
	case 0:
		s.schema["enum"] = []any{"a", "ab", "x", "yz"}
	case 1:
		s.schema["pattern"] = pick(m, "^[a-z]+$", "^[axy]", "^.{1,3}$")
	case 2:
		s.schema["maxLength"] = pick(m, 2, 10)
	case 3:
		s.schema["minLength"] = 1
	case 4, 5:
		format := pick(m, slices.Sorted(maps.Keys(formats))...)
		s.schema["format"] = format
		s.value = func() any { return pick(m, formats[format]...) }
		switch {
		case m.chance(0.6):
		case format == "date-time" || format == "date":
			s.rule(m, "'the time ' + string(self)", "self < timestamp('2030-01-01T00:00:00Z')", "self.getFullYear() > 2000")
		case format == "duration":
			s.rule(m, "'the time ' + string(self)", "self < duration('2h')")
		}
	case 6, 7:
		s.schema["maxLength"] = 10
		s.rule(m, "'the text ' + self",
			"self == oldSelf", "self.size() < 3", "self.matches('^[a-z]*$')", "self != 'x'", "self.startsWith('a') || self in ['x', 'yz']", "!oldSelf.hasValue() || self != ''")
	}
	return s
}

func (m maker) object(depth int) *shape {
	s := &shape{schema: map[string]any{"type": "object", "properties": map[string]any{}}, fields: map[string]*shape{}}
	for i := range 1 + m.IntN(5) {
		s.add(string(rune('a'+i)), m.shape(depth))
	}
	names := slices.Sorted(maps.Keys(s.fields))
	s.value = func() any { return m.members(s) }
	if m.chance(0.2) {
		s.schema["required"] = []any{pick(m, names...)}
	}
	if m.chance(0.12) {
		s.schema["x-kubernetes-map-type"] = pick(m, "atomic", "granular")
	}
	if m.chance(0.12) {
		s.schema["x-kubernetes-preserve-unknown-fields"] = true
	}
	needs := func(name string) any { return map[string]any{"required": []any{name}} }
	switch m.IntN(14) {
	case 0:
		s.schema["anyOf"] = []any{needs(names[0]), needs(names[len(names)-1])}
	case 1:
		s.schema["oneOf"] = []any{needs(names[0]), map[string]any{"not": needs(names[0])}}
	case 2:
		s.schema["not"] = map[string]any{"required": []any{names[0], "z"}}
	case 3:
		s.schema["maxProperties"] = 4
	case 4, 5, 6:
		a, b := pick(m, names...), pick(m, names...)
		s.rule(m, "'the object has ' + (has(self."+a+") ? 'it' : 'it not')",
			fmt.Sprintf("has(self.%s) || !has(self.%s)", a, b), fmt.Sprintf("!has(oldSelf.%s) || has(self.%s)", a, a),
			fmt.Sprintf("has(self.%s)", a), fmt.Sprintf("!has(self.%s) || !has(oldSelf.%s) || self.%s == oldSelf.%s", a, a, a, a))
		if m.chance(0.3) {
			s.schema["x-kubernetes-validations"].([]any)[0].(map[string]any)["fieldPath"] = "." + a
		}
	}
	return s
}

// members returns an object with most of the fields of a shape, and all that the shape requires.
func (m maker) members(s *shape) map[string]any {
	out := map[string]any{}
	required, _ := s.schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		if slices.Contains(required, any(name)) || m.chance(0.7) {
			out[name] = s.fields[name].value()
		}
	}
	if s.schema["x-kubernetes-preserve-unknown-fields"] == true && m.chance(0.5) {
		out["more"] = pick[any](m, "x", map[string]any{"a": []any{1, "b"}}, []any{map[string]any{}}, 1.5)
	}
	return out
}

func (m maker) stringMap(depth int) *shape {
	item := m.shape(depth)
	s := &shape{schema: map[string]any{"type": "object", "additionalProperties": item.schema}}
	s.value = func() any {
		out := map[string]any{}
		for _, name := range [...]string{"a", "b", "c.io/d"} {
			if m.chance(0.5) {
				out[name] = item.value()
			}
		}
		return out
	}
	if m.chance(0.2) {
		s.schema["x-kubernetes-map-type"] = pick(m, "atomic", "granular")
	}
	if m.chance(0.95) {
		s.schema["maxProperties"] = 3
		if m.chance(0.3) {
			s.rule(m, "'sized ' + string(size(self))", "self.all(k, k != 'a' || size(self) > 1)", "size(self) >= size(oldSelf)", "!('zz' in self)")
		}
	}
	return s
}

func (m maker) list(depth int) *shape {
	s := &shape{schema: map[string]any{"type": "array"}}
	inItem := m
	inItem.loose = true
	var item *shape
	switch m.IntN(5) {
	case 0:
		item = inItem.scalar()
		s.schema["x-kubernetes-list-type"] = "set"
	case 1, 2:
		item = m.keyed(depth)
		s.schema["x-kubernetes-list-type"] = "map"
		keys := []any{"k"}
		if item.fields["p"] != nil {
			keys = append(keys, "p")
		}
		s.schema["x-kubernetes-list-map-keys"] = keys
	case 3:
		s.schema["x-kubernetes-list-type"] = "atomic"
	}
	if item == nil {
		item = inItem.shape(depth)
	}
	s.schema["items"] = item.schema
	isList := s.schema["x-kubernetes-list-type"]
	s.value = func() any {
		out := []any{}
		seen := map[string]bool{}
		for range m.IntN(4) {
			v := item.value()
			identity := pair.Text(v)
			if object, ok := v.(map[string]any); ok && isList == "map" {
				identity = pair.Text([]any{object["k"], object["p"]})
			}
			if (isList == "set" || isList == "map") && seen[identity] {
				continue
			}
			seen[identity] = true
			out = append(out, v)
		}
		return out
	}
	if m.chance(0.95) {
		s.schema["maxItems"] = 4
		if m.chance(0.3) {
			s.rule(m, "'sized ' + string(size(self))",
				"self.all(x, x == x)", "size(self) >= size(oldSelf)", "self.exists(x, true) || size(self) == 0", "oldSelf.all(x, x in self)")
		}
	}
	return s
}

// keyed returns the shape of items that have the key k, and perhaps p.
func (m maker) keyed(depth int) *shape {
	s := m.object(depth)
	for _, word := range [...]string{"anyOf", "oneOf", "not", "maxProperties", "x-kubernetes-map-type"} {
		delete(s.schema, word)
	}
	key := &shape{schema: map[string]any{"type": "string"}, value: func() any { return pick(m, "x", "y", "z") }}
	if m.chance(0.3) {
		key = &shape{schema: map[string]any{"type": "integer"}, value: func() any { return pick(m, 1, 2, 3) }}
	}
	s.add("k", key)
	required := []any{"k"}
	if m.chance(0.3) {
		second := &shape{schema: map[string]any{"type": "string"}, value: func() any { return pick(m, "TCP", "UDP") }}
		if m.chance(0.6) {
			second.schema["default"] = "TCP"
		} else {
			required = append(required, "p")
		}
		s.add("p", second)
	}
	s.schema["required"] = required
	return s
}

// free returns a shape whose content has no schema.
func (m maker) free() *shape {
	content := func() any {
		return map[string]any{"a": pick[any](m, 1, "x", []any{1, 2}), "b": map[string]any{"c": pick(m, "d", "e")}}
	}
	s := &shape{schema: map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, value: content}
	switch m.IntN(4) {
	case 0:
		delete(s.schema, "type")
		s.value = func() any { return pick[any](m, "x", 1, []any{1}, content()) }
	case 1:
		s.schema["x-kubernetes-embedded-resource"] = true
		s.value = func() any {
			return map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": pick(m, "a", "b"), "labels": map[string]any{"x": "y"}},
				"data": content(),
			}
		}
	case 2:
		s.schema["x-kubernetes-map-type"] = pick(m, "atomic", "granular")
	}
	return s
}
