package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// definition is a random definition of a custom resource, with objects that it allows.
type definition struct {
	seed                uint64
	number              int
	kind, group, plural string
	namespaced          bool
	versions            []string // the first one is preferred
	body                map[string]any
	objects             []map[string]any // of the first version
}

// newDefinition returns the definition with a number. Some are invalid: then a server refuses them.
func newDefinition(seed uint64, number int) *definition {
	m := maker{Rand: rand.New(rand.NewPCG(seed, uint64(number)))}
	d := &definition{
		seed: seed, number: number, kind: fmt.Sprintf("T%d", number), plural: fmt.Sprintf("t%ds", number), group: fmt.Sprintf("w%d.example.org", seed),
		namespaced: m.chance(0.8), versions: []string{"v1"},
	}
	root := m.root()
	served := []any{m.version("v1", root, true)}
	if m.chance(0.4) {
		d.versions = append(d.versions, "v1beta1")
		other := m.version("v1beta1", &shape{schema: m.changed(root.schema), fields: root.fields}, false)
		if m.chance(0.5) {
			other["deprecated"] = true
		}
		served = append(served, other)
	}
	scope := "Cluster"
	if d.namespaced {
		scope = "Namespaced"
	}
	d.body = map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": d.plural + "." + d.group},
		"spec": map[string]any{
			"group": d.group, "scope": scope, "versions": served,
			"names": map[string]any{"kind": d.kind, "plural": d.plural},
		},
	}
	for range 4 {
		object := root.value().(map[string]any)
		object["apiVersion"], object["kind"], object["metadata"] = d.group+"/v1", d.kind, map[string]any{}
		d.objects = append(d.objects, object)
	}
	return d
}

// version returns a version of a definition.
func (m maker) version(name string, root *shape, stored bool) map[string]any {
	out := map[string]any{"name": name, "served": true, "storage": stored, "schema": map[string]any{"openAPIV3Schema": root.schema}}
	subresources := map[string]any{}
	if m.chance(0.6) {
		subresources["status"] = map[string]any{}
	}
	if m.chance(0.5) {
		scale := map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
		if m.chance(0.5) {
			scale["labelSelectorPath"] = ".status.selector"
		}
		subresources["scale"] = scale
	}
	if len(subresources) > 0 {
		out["subresources"] = subresources
	}
	if m.chance(0.5) {
		out["additionalPrinterColumns"] = m.columns(root)
	}
	if m.chance(0.3) {
		for _, field := range slices.Sorted(maps.Keys(root.fields["spec"].fields)) {
			switch root.fields["spec"].fields[field].schema["type"] {
			case "string", "boolean", "integer":
				out["selectableFields"] = []any{map[string]any{"jsonPath": ".spec." + field}}
			}
		}
	}
	return out
}

// columns returns columns for Tables.
func (m maker) columns(root *shape) []any {
	var out []any
	for _, part := range [...]string{"spec", "status"} {
		for _, field := range slices.Sorted(maps.Keys(root.fields[part].fields)) {
			if !m.chance(0.4) {
				continue
			}
			path := "." + part + "." + field + pick(m, "", "", "", "[0]", "[*].k", ".a")
			column := map[string]any{"name": strings.ToUpper(field), "type": pick(m, "string", "integer", "number", "boolean", "date"), "jsonPath": path}
			if m.chance(0.2) {
				column["priority"] = m.IntN(2)
			}
			out = append(out, column)
		}
	}
	return append(out, map[string]any{"name": "Born", "type": "date", "jsonPath": ".metadata.creationTimestamp"})
}

// root returns the shape of objects with a spec and a status.
func (m maker) root() *shape {
	spec := m.object(3)
	spec.add("replicas", &shape{schema: map[string]any{"type": "integer"}, value: func() any { return m.IntN(4) }})
	status := m.object(1)
	status.add("replicas", &shape{schema: map[string]any{"type": "integer", "format": "int32"}, value: func() any { return m.IntN(4) }})
	status.add("selector", &shape{schema: map[string]any{"type": "string"}, value: func() any { return pick(m, "", "a=b") }})
	root := &shape{schema: map[string]any{"type": "object", "properties": map[string]any{}}, fields: map[string]*shape{}}
	root.add("spec", spec)
	root.add("status", status)
	if m.chance(0.3) {
		root.add("extra", m.shape(2))
	}
	root.value = func() any { return m.members(root) }
	if m.chance(0.15) {
		root.schema["x-kubernetes-preserve-unknown-fields"] = true
	}
	if m.chance(0.2) {
		name := map[string]any{"type": "string", "maxLength": pick(m, 5, 40)}
		root.schema["properties"].(map[string]any)["metadata"] = map[string]any{"type": "object", "properties": map[string]any{"name": name}}
	}
	if m.chance(0.3) {
		root.rule(m, "'the object ' + self.metadata.name",
			"self.metadata.name.startsWith('h')", "!has(self.metadata.generateName)", "has(self.spec)", "self.kind.startsWith('T')", "!oldSelf.hasValue() || has(self.spec)")
	}
	return root
}

// changed returns a schema of another version: some fields are missing, and some lists and maps have another type.
func (m maker) changed(schema map[string]any) map[string]any {
	out := maps.Clone(schema)
	if members, ok := schema["properties"].(map[string]any); ok {
		kept := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			required, _ := schema["required"].([]any)
			if name != "replicas" && name != "selector" && name != "spec" && name != "status" && !slices.Contains(required, any(name)) && m.chance(0.15) {
				continue
			}
			kept[name] = m.changed(members[name].(map[string]any))
		}
		if out["properties"] = kept; len(kept) == 0 { // an empty one is hidden, see docs/divergences.md
			delete(out, "properties")
		}
		delete(out, "x-kubernetes-validations") // which may read what is missing
		delete(out, "default")
	}
	if items, ok := schema["items"].(map[string]any); ok {
		out["items"] = m.changed(items)
		if m.chance(0.2) {
			out["x-kubernetes-list-type"] = "atomic"
			delete(out, "x-kubernetes-list-map-keys")
		}
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		out["additionalProperties"] = m.changed(values)
	}
	return out
}

// bases returns the objects as base objects.
func (d *definition) bases() []*pair.Base {
	var out []*pair.Base
	for _, o := range d.objects {
		out = append(out, &pair.Base{Kind: d.kind, Object: o})
	}
	return out
}
