package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is a part of an OpenAPI document.
type schema struct {
	Ref        string             `json:"$ref"`
	AllOf      []*schema          `json:"allOf"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	Additional *schema            `json:"additionalProperties"`
	Kinds      []struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"x-kubernetes-group-version-kind"`
}

// schemas are those of a document, by name.
type schemas map[string]*schema

// resolve follows references.
func (all schemas) resolve(s *schema) *schema {
	for s != nil {
		switch {
		case s.Ref != "":
			name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
			if s = all[name]; strings.HasSuffix(name, ".Quantity") {
				return &schema{Type: "string", Format: "quantity"}
			}
		case len(s.AllOf) > 0:
			s = s.AllOf[0]
		default:
			return s
		}
	}
	return &schema{}
}

// of returns the schema of the objects of a kind.
func (all schemas) of(kind string) *schema {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, k := range all[name].Kinds {
			if k.Kind == kind && strings.HasSuffix(name, "."+kind) {
				return all[name]
			}
		}
	}
	return nil
}

// admits reports whether a value is of the type of s. Null is of every type.
func (s *schema) admits(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return s.Type == "string" || s.Format == "int-or-string"
	case float64:
		return s.Type == "integer" || s.Type == "number" || s.Format == "int-or-string"
	case bool:
		return s.Type == "boolean"
	case []any:
		return s.Items != nil
	case map[string]any:
		return s.Items == nil && (s.Type == "object" || len(s.Properties) > 0 || len(v) == 0 && s.Type == "")
	}
	return false
}

// location is a place in a base object that a fault may be put into.
type location struct {
	field  string // the path without indexes and keys
	path   []any
	schema *schema
	value  any
	exists bool
}

// locations finds the places of a base object, by field.
type locations struct {
	schemas
	byField map[string][]*location
}

// absentLevels bounds how many levels of fields below one that the base lacks are visited.
const absentLevels = 2

func (l *locations) visit(field string, path []any, s *schema, v any, exists bool, absent int) {
	s = l.resolve(s)
	if len(path) > 0 {
		l.byField[field] = append(l.byField[field], &location{field, slices.Clone(path), s, v, exists})
	}
	if !exists {
		if absent++; absent > absentLevels {
			return
		}
	}
	switch {
	case len(s.Properties) > 0:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if len(path) == 0 && (name == "apiVersion" || name == "kind") || name == "managedFields" {
				continue
			}
			member, ok := members[name]
			l.visit(strings.TrimPrefix(field+"."+name, "."), append(path, name), s.Properties[name], member, ok, absent)
		}
	case s.Items != nil:
		items, _ := v.([]any)
		for i, item := range items {
			l.visit(field+"[]", append(path, i), s.Items, item, true, absent)
		}
		if len(items) == 0 {
			l.visit(field+"[]", append(path, 0), s.Items, nil, false, absent)
		}
	case s.Additional != nil:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			l.visit(field+"[]", append(path, name), s.Additional, members[name], true, absent)
		}
	}
}

func (s *schema) String() string { return fmt.Sprint(s.Type, " ", s.Format) }
