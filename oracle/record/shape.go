package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// shape is a random schema, which gives both a definition and values.
type shape struct {
	kind     kind
	scalar   string // integer, number, string, boolean or int-or-string
	fields   []field
	elem     *shape // of maps and lists
	keys     []string
	atomic   bool // of objects and maps
	nullable bool
	preserve bool // of objects
	dflt     any  // nil for none
}

type field struct {
	name string
	*shape
}

type kind uint8

const (
	scalarKind kind = iota
	objectKind
	mapKind
	atomicList
	setList
	keyedList
)

// features enables further features of shapes in a definition.
type features struct{ defaults bool }

var scalars = []string{"string", "string", "string", "integer", "integer", "boolean", "number", "int-or-string"}

// randomShape returns a shape with at most depth nested containers.
func randomShape(r *rand.Rand, depth int, f features) *shape {
	s := &shape{kind: scalarKind}
	if depth > 0 && r.IntN(5) > 1 {
		s.kind = []kind{objectKind, objectKind, mapKind, atomicList, setList, keyedList, keyedList}[r.IntN(7)]
	}
	switch s.kind {
	case scalarKind:
		s.scalar = scalars[r.IntN(len(scalars))]
	case objectKind:
		s.fields = randomFields(r, 2+r.IntN(4), depth-1, f)
		s.atomic = r.IntN(8) == 0
		s.preserve = f.defaults && r.IntN(6) == 0
	case mapKind:
		s.elem = randomShape(r, depth-1, f)
		s.elem.dflt = nil
		s.atomic = r.IntN(4) == 0
	case atomicList:
		s.elem = randomShape(r, depth-1, f)
		s.elem.dflt = nil
	case setList:
		s.elem = &shape{kind: scalarKind, scalar: scalars[r.IntN(len(scalars))]}
	case keyedList:
		s.elem = keyedItem(r, depth, f)
		s.keys = []string{"k"}
		if s.elem.fields[len(s.elem.fields)-1].name == "p" {
			s.keys = append(s.keys, "p")
		}
	}
	if f.defaults {
		s.nullable = r.IntN(6) == 0
		s.dflt = randomDefault(r, s)
	}
	return s
}

func randomFields(r *rand.Rand, n, depth int, f features) []field {
	fields := make([]field, n)
	for i := range fields {
		fields[i] = field{string(rune('a' + i)), randomShape(r, depth, f)}
	}
	return fields
}

// keyedItem returns the shape of an item with the key k, and sometimes p, which may have a default.
func keyedItem(r *rand.Rand, depth int, f features) *shape {
	item := &shape{kind: objectKind, fields: randomFields(r, 1+r.IntN(4), min(depth-1, 2), f)}
	key := &shape{kind: scalarKind, scalar: []string{"string", "string", "integer"}[r.IntN(3)]}
	item.fields = append(item.fields, field{"k", key})
	if r.IntN(3) == 0 {
		second := &shape{kind: scalarKind, scalar: "string"}
		if r.IntN(2) == 0 {
			second.dflt = "TCP"
		}
		item.fields = append(item.fields, field{"p", second})
	}
	return item
}

func randomDefault(r *rand.Rand, s *shape) any {
	if r.IntN(6) > 0 {
		return nil
	}
	switch s.kind {
	case scalarKind:
		return randomScalar(r, s.scalar)
	case objectKind:
		return map[string]any{}
	}
	return nil
}

// retopologized returns s with the topology of some containers changed between atomic and granular.
func retopologized(r *rand.Rand, s *shape) *shape {
	out := *s
	out.fields = slices.Clone(s.fields)
	for i := range out.fields {
		out.fields[i].shape = retopologized(r, s.fields[i].shape)
	}
	if s.elem != nil {
		out.elem = retopologized(r, s.elem)
	}
	if r.IntN(4) > 0 {
		return &out
	}
	switch {
	case s.kind == objectKind || s.kind == mapKind:
		out.atomic = !s.atomic
	case s.kind == setList || s.kind == keyedList:
		out.kind = atomicList
	case s.kind == atomicList && s.elem.kind == scalarKind && !s.elem.nullable:
		out.kind = setList
	}
	return &out
}

// schema returns s in the form of a definition.
func (s *shape) schema() map[string]any {
	out := map[string]any{}
	switch s.kind {
	case scalarKind:
		out["type"] = s.scalar
		if s.scalar == "int-or-string" {
			delete(out, "type")
			out["x-kubernetes-int-or-string"] = true
		}
	case objectKind:
		out["type"], out["properties"] = "object", properties(s.fields)
		if s.preserve {
			out["x-kubernetes-preserve-unknown-fields"] = true
		}
	case mapKind:
		out["type"], out["additionalProperties"] = "object", s.elem.schema()
	default:
		out["type"], out["items"] = "array", s.elem.schema()
	}
	if s.atomic {
		out["x-kubernetes-map-type"] = "atomic"
	}
	s.listSchema(out)
	if s.nullable {
		out["nullable"] = true
	}
	if s.dflt != nil {
		out["default"] = s.dflt
	}
	return out
}

func (s *shape) listSchema(out map[string]any) {
	switch s.kind {
	case setList:
		out["x-kubernetes-list-type"] = "set"
	case keyedList:
		out["x-kubernetes-list-type"] = "map"
		var keys, required []any
		for _, key := range s.keys {
			keys = append(keys, key)
			if i := slices.IndexFunc(s.elem.fields, func(f field) bool { return f.name == key }); s.elem.fields[i].dflt == nil {
				required = append(required, key)
			}
		}
		out["x-kubernetes-list-map-keys"] = keys
		out["items"].(map[string]any)["required"] = required
	}
}

func properties(fields []field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		out[f.name] = f.schema()
	}
	return out
}

// resource is a random custom resource.
type resource struct {
	class    string
	group    string
	versions []version // the first one is stored
}

type version struct {
	name  string
	spec  *shape
	scale bool // it has a scale subresource
}

var statusShape = &shape{kind: objectKind, fields: []field{
	{"count", &shape{scalar: "integer"}}, {"note", &shape{scalar: "string"}}, {"ready", &shape{scalar: "boolean"}},
	{"replicas", &shape{scalar: "integer"}},
}}

// randomResource returns the resource number i of a recording.
func randomResource(r *rand.Rand, seed uint64, i int) resource {
	class := []string{"plain", "plain", "defaults", "versions", "request"}[i%5]
	f := features{defaults: class == "defaults"}
	spec := &shape{kind: objectKind, fields: randomFields(r, 2+r.IntN(4), 3, f)}
	scale := (class == "versions" || class == "request") && r.IntN(2) == 0
	if scale {
		spec.fields = append(spec.fields, field{"replicas", &shape{scalar: "integer"}})
	}
	out := resource{class: class, group: fmt.Sprintf("g%d-%d.t.io", seed, i), versions: []version{{"v1", spec, scale}}}
	if class == "versions" {
		other := spec
		if r.IntN(4) > 0 {
			other = retopologized(r, spec)
		}
		if r.IntN(4) == 0 {
			with := *other
			with.fields = append(slices.Clone(other.fields), field{"extra", &shape{scalar: "string"}})
			other = &with
		}
		out.versions = append(out.versions, version{"v1beta1", other, scale && r.IntN(2) == 0})
	}
	return out
}

// definition returns the CustomResourceDefinition.
func (c resource) definition() map[string]any {
	var versions []any
	for i, v := range c.versions {
		served := map[string]any{
			"name": v.name, "served": true, "storage": i == 0,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": v.spec.schema(), "status": statusShape.schema()},
			}},
		}
		subresources := map[string]any{}
		if c.class == "request" {
			subresources["status"] = map[string]any{}
		}
		if v.scale {
			subresources["scale"] = map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
		}
		if len(subresources) > 0 {
			served["subresources"] = subresources
		}
		versions = append(versions, served)
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things." + c.group},
		"spec": map[string]any{
			"group": c.group, "scope": "Namespaced", "versions": versions,
			"names": map[string]any{"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
		},
	}
}

// collection returns the path of all objects in a version.
func (c resource) collection(version string) string {
	return "/apis/" + c.group + "/" + version + "/namespaces/default/things"
}
