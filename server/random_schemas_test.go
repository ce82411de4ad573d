package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
)

type members = map[string]any

// documented returns a random definition that a server takes, in most of which something is rare. Number makes its names unique; four
// successive numbers share a group.
func (g *generator) documented(number int, group string) members {
	kind := pick(g, []string{"Thing", "Apple", "Glass", "Bus", "Under", "My-Kind", "Checklist"}) + fmt.Sprint("N", number, pick(g, []string{"x", "s", "List"}))
	names := members{"kind": kind, "plural": fmt.Sprint("p", number, pick(g, []string{"s", "-things", "data"}))}
	if g.IntN(2) == 0 {
		names["singular"], names["listKind"] = fmt.Sprint("single", number), pick(g, []string{"", "All"})+kind+"List"
	}
	if g.IntN(2) == 0 {
		names["shortNames"], names["categories"] = []string{fmt.Sprint("s", number)}, []string{"all", "documented"}[:1+g.IntN(2)]
	}
	all := []string{"v1", "v1beta1", "v2", "v2alpha1", "other", "v10", "x-1"}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var versions []members
	for i, name := range all[:1+g.IntN(3)] {
		versions = append(versions, g.documentedVersion(name, i == 0))
	}
	return members{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": members{
			"name": fmt.Sprint(names["plural"], ".", group), "annotations": members{"api-approved.kubernetes.io": "unapproved, a test"},
		},
		"spec": members{
			"group": group, "names": names, "scope": pick(g, []string{"Namespaced", "Cluster"}), "versions": versions,
		},
	}
}

func (g *generator) documentedVersion(name string, stored bool) members {
	v := members{"name": name, "served": stored || g.IntN(4) > 0, "storage": stored}
	spec := g.objectSchema(3)
	spec["properties"].(members)["replicas"] = members{"type": "integer", "format": "int32", "default": 1}
	spec["properties"].(members)["color"] = members{"type": "string", "enum": []string{"red", "blue"}}
	root := members{"type": "object", "properties": members{"spec": spec, "status": members{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
	switch g.IntN(8) {
	case 0:
		root["x-kubernetes-preserve-unknown-fields"] = true
	case 1:
		root = members{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	case 2:
		root = members{"type": "object"}
	case 3:
		root["properties"].(members)["metadata"] = members{"type": "object", "properties": members{"name": members{"type": "string", "maxLength": 9}}}
		root["required"] = []string{"spec"}
	case 4:
		root["description"], root["x-kubernetes-validations"] = "A <thing> & \"more\".", []members{{"rule": "self.metadata.name != 'x'", "message": "not x"}}
		root["properties"].(members)["kind"] = members{"type": "string", "description": "mine"}
	case 5:
		root["title"], root["description"], root["externalDocs"] = "Root", "", members{"url": "https://example.org"}
		root["properties"].(members)["metadata"] = members{"type": "object", "properties": members{"generateName": members{"type": "string", "pattern": "^a"}}}
		root["properties"].(members)["apiVersion"] = members{"type": "string", "maxLength": 40}
	}
	v["schema"] = members{"openAPIV3Schema": root}
	_, whole := root["properties"]
	if g.IntN(2) == 0 {
		of := members{"status": members{}}
		if whole && g.IntN(2) == 0 {
			of["scale"] = members{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
		}
		v["subresources"] = of
	}
	if whole && g.IntN(3) == 0 {
		v["selectableFields"] = []members{{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.replicas"}}[:1+g.IntN(2)]
	}
	if g.IntN(3) == 0 {
		v["additionalPrinterColumns"] = []members{{"name": "Color", "type": "string", "jsonPath": ".spec.color", "priority": 1}}
	}
	if g.IntN(4) == 0 {
		v["deprecated"] = true
	}
	return v
}

// schema returns a random structural schema. Its depth is at most depth.
func (g *generator) schema(depth int) members {
	s := g.typedSchema(depth)
	if g.IntN(3) == 0 {
		s["description"] = pick(g, []string{"Some text.", "é <b> & \"q\"\n\tmore", ""})
	}
	if g.IntN(12) == 0 {
		s["title"], s["externalDocs"] = "Title", members{"url": "https://example.org/a?b&c", "description": "docs"}
	}
	if g.IntN(40) == 0 {
		s["nullable"], s["default"] = true, nil
	}
	if g.IntN(12) == 0 {
		s["example"] = pick(g, []any{"text", 1, members{"default": 1, "$ref": "x"}})
	}
	if g.IntN(5) == 0 {
		s["nullable"] = g.IntN(4) > 0
	}
	return s
}

func (g *generator) typedSchema(depth int) members {
	n := g.IntN(14)
	if depth <= 0 {
		n = g.IntN(8)
	}
	switch n {
	case 0, 1:
		return g.textSchema()
	case 2:
		return g.numberSchema("integer")
	case 3:
		return g.numberSchema("number")
	case 4:
		return members{"type": "boolean", "default": g.IntN(2) == 0}
	case 5:
		return g.eitherSchema()
	case 6:
		return members{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	case 7:
		return members{"x-kubernetes-preserve-unknown-fields": true}
	case 8, 9:
		return g.listSchema(depth)
	case 10:
		of := members{"type": "object", "additionalProperties": g.schema(depth - 1), "maxProperties": 7, "default": members{}}
		if g.IntN(3) == 0 {
			of["x-kubernetes-map-type"] = "atomic"
		}
		return of
	case 11:
		of := g.objectSchema(depth)
		of["x-kubernetes-embedded-resource"] = true
		if g.IntN(2) == 0 {
			of["x-kubernetes-preserve-unknown-fields"] = true
		}
		return of
	}
	return g.objectSchema(depth)
}

func (g *generator) textSchema() members {
	s := members{"type": "string"}
	switch g.IntN(6) {
	case 0:
		s["enum"], s["default"] = []string{"a", "b", ""}, "a"
	case 1:
		s["maxLength"], s["minLength"], s["pattern"] = 9, 0, "^[a-z<>&]*$"
	case 2:
		s["format"] = pick(g, []string{"date-time", "byte", "int-or-string", "odd", "uuid"})
	case 3:
		s["anyOf"] = []members{{"minLength": 1}, {"enum": []string{""}}}
	case 4:
		s["not"] = members{"pattern": "x"}
	case 5:
		s["allOf"] = []members{{"maxLength": 20}, {"anyOf": []members{{"pattern": "a"}, {"not": members{"enum": []string{"b"}}}}}}
	}
	return s
}

func (g *generator) numberSchema(typ string) members {
	s := members{"type": typ}
	switch g.IntN(4) {
	case 0:
		s["minimum"], s["maximum"], s["exclusiveMaximum"] = 0, 1000000, g.IntN(2) == 0
	case 1:
		s["multipleOf"], s["default"] = 5, 10
	case 2:
		s["format"], s["enum"] = pick(g, []string{"int32", "int64", "float", "double"}), []int{1, 2}
	}
	if typ == "number" && g.IntN(3) == 0 {
		s["minimum"] = pick(g, []float64{0.5, 1e-7, 1e21, -2, 9007199254740993})
		delete(s, "default")
		if len(s) == 2 {
			s["default"] = pick(g, []float64{1e21, 2.5e21})
		}
	}
	return s
}

// eitherSchema returns the schema of a number or a text.
func (g *generator) eitherSchema() members {
	either := []members{{"type": "integer"}, {"type": "string"}}
	s := members{"x-kubernetes-int-or-string": true}
	switch g.IntN(4) {
	case 0:
		s["anyOf"] = either
	case 1:
		s["allOf"] = []members{{"anyOf": either}, {"maxLength": 8}}
	case 2:
		s["pattern"], s["anyOf"] = "^[0-9]*$", either
	}
	return s
}

func (g *generator) listSchema(depth int) members {
	items := g.schema(depth - 1)
	s := members{"type": "array", "items": items, "maxItems": 9}
	switch g.IntN(4) {
	case 0:
		s["x-kubernetes-list-type"] = "atomic"
	case 1:
		s["items"], s["x-kubernetes-list-type"] = members{"type": "string", "maxLength": 5}, "set"
	case 2:
		s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", []string{"k"}
		s["items"] = members{"type": "object", "required": []string{"k"}, "properties": members{"k": members{"type": "string"}, "v": g.schema(depth - 2)}}
	}
	return s
}

func (g *generator) objectSchema(depth int) members {
	properties, required := members{}, []string{}
	for _, name := range []string{"a", "b", "default", "properties", "items", "$ref", "n"}[:1+g.IntN(7)] {
		properties[name] = g.schema(depth - 1)
		if g.IntN(4) == 0 {
			required = append(required, name)
		}
	}
	s := members{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	switch g.IntN(8) {
	case 0:
		s["x-kubernetes-preserve-unknown-fields"] = true
	case 1:
		s["x-kubernetes-validations"] = []members{{"rule": "true", "message": "m", "reason": "FieldValueForbidden"}}
	case 2:
		s["oneOf"] = []members{{"required": []string{"a"}}, {"not": members{"required": []string{"a"}}}}
	case 3:
		s["minProperties"], s["x-kubernetes-map-type"] = 1, "granular"
	case 4:
		s["x-kubernetes-validations"] = []members{{
			"rule": "oldSelf.hasValue() || true", "messageExpression": "'a is ' + 'absent'", "optionalOldSelf": true, "fieldPath": ".a",
		}}
	case 5:
		s["enum"] = []any{members{"a": "b"}, members{}, members{"a": []any{1.5, nil, true}}}
	}
	return s
}

// text returns v as JSON.
func (g *generator) text(v any) string {
	var out strings.Builder
	if err := json.NewEncoder(&out).Encode(v); err != nil {
		panic(err) // it is plain data
	}
	return out.String()
}
