package schemafile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Change is one difference between two schemas.
type Change struct {
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"`
	Detail string `json:"detail"`
	Effect string `json:"effect,omitempty"` // the effect on owners
	// Comes and Goes say that the change is a field that one of the schemas lacks.
	Comes bool `json:"-"`
	Goes  bool `json:"-"`
}

// Compare returns the differences between the types of all kinds. An OpenAPI document of v2 has no defaults. If one of the schemas is such
// a document, Compare leaves out differences between defaults; hidden is their number.
func Compare(old, new *File) (changes []Change, hidden int) {
	d := comparison{blind: old.isV2 || new.isV2}
	before, after := old.roots(), new.roots()
	names := slices.Sorted(maps.Keys(before))
	for name := range after {
		if before[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.kind = name
		switch {
		case after[name] == nil:
			effect := "The next write to an object drops the managed fields of this version."
			if isEmpty(old.Catalog) {
				effect = ""
			}
			d.add("", "is gone", effect)
		case before[name] == nil:
			d.add("", "is new", "")
		default:
			d.seen = map[[2]*schema.Type]bool{}
			d.compare(before[name], after[name], "")
		}
	}
	return d.changes, d.hidden
}

// CompareTypes returns the differences between two types of the kinds that names have, name by name. Types that are part of several of them
// are compared once.
func CompareTypes(names []string, old, new map[string]*schema.Type) []Change {
	d := comparison{seen: map[[2]*schema.Type]bool{}}
	for _, name := range names {
		d.kind = name
		d.compare(old[name], new[name], "")
	}
	return d.changes
}

// isEmpty reports whether a schema has no kinds.
func isEmpty(c *schema.Catalog) bool {
	for range c.Kinds() {
		return false
	}
	return true
}

// comparison compares types.
type comparison struct {
	kind    string
	blind   bool // whether to ignore defaults
	seen    map[[2]*schema.Type]bool
	changes []Change
	hidden  int // the number of differences between defaults that are not among the changes
}

func (d *comparison) add(path, detail, effect string) {
	d.changes = append(d.changes, Change{Kind: d.kind, Path: path, Detail: detail, Effect: effect})
}

func (d *comparison) compare(old, new *schema.Type, path string) {
	if pair := [2]*schema.Type{old, new}; old == new || d.seen[pair] {
		return
	} else {
		d.seen[pair] = true
	}
	if before, after := types.Admitted(old), types.Admitted(new); before != after {
		d.add(path, fmt.Sprintf("is %s, was %s", after, before), "")
	}
	if a, b := old.List(), new.List(); a != nil && b != nil {
		d.lists(a, b, path)
		d.compare(a.Element(), b.Element(), path+"[]")
	}
	if a, b := old.Map(), new.Map(); a != nil && b != nil {
		d.maps(a, b, path)
	}
}

func (d *comparison) lists(old, new *schema.List, path string) {
	before, after := listText(old), listText(new)
	if before == after {
		return
	}
	if d.blind && keysWithoutDefaults(old) == keysWithoutDefaults(new) && old.Topology() == new.Topology() {
		d.hidden++
		return
	}
	effect := "The keys identify other items than before: fields under the old keys lose their owners."
	switch {
	case old.Topology() == schema.AtomicList:
		effect = "Owners keep the list itself, but its items lose their owners."
	case new.Topology() == schema.AtomicList:
		effect = "Each owner of a part of the list becomes an owner of all of it: they will conflict."
	}
	d.add(path, fmt.Sprintf("is %s, was %s", after, before), effect)
}

func listText(l *schema.List) string {
	switch l.Topology() {
	case schema.AtomicList:
		return "an atomic list"
	case schema.SetList:
		return "a set"
	case schema.KeyedList:
		return "a list keyed by " + types.KeyNames(l.Keys())
	}
	return "a list without a topology"
}

// keysWithoutDefaults lists the names of the keys of l.
func keysWithoutDefaults(l *schema.List) string {
	keys := slices.Clone(l.Keys())
	for i := range keys {
		keys[i].Default = value.Value{}
	}
	return types.KeyNames(keys)
}

func (d *comparison) maps(old, new *schema.Map, path string) {
	switch {
	case old.Atomic() && !new.Atomic():
		d.add(path, "is merged field by field, was atomic", "Owners keep the object itself, but its fields lose their owners.")
	case !old.Atomic() && new.Atomic():
		d.add(path, "is atomic, was merged field by field", "Each owner of a part of the object becomes an owner of all of it: they will conflict.")
	}
	before, after := fieldsByName(old), fieldsByName(new)
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, inOld := before[name]
		b, inNew := after[name]
		at := path + "." + name
		switch {
		case !inNew && new.Element() != nil:
			d.compare(a.Type, new.Element(), at)
		case !inNew:
			d.add(at, "is gone", "An apply to an object fails as long as the object has the field.")
			d.changes[len(d.changes)-1].Goes = true
		case !inOld:
			d.add(at, "is new: "+types.Admitted(b.Type), "")
			d.changes[len(d.changes)-1].Comes = true
		default:
			switch {
			case a.Default.Equal(b.Default):
			case d.blind:
				d.hidden++
			default:
				d.add(at, fmt.Sprintf("is %v by default, was %v", secret.Public(b.Default), secret.Public(a.Default)), "")
			}
			d.compare(a.Type, b.Type, at)
		}
	}
	switch a, b := old.Element(), new.Element(); {
	case a != nil && b == nil:
		d.add(path, "admits no other fields any more", "")
	case a == nil && b != nil:
		d.add(path, "admits other fields", "")
	case a != nil:
		d.compare(a, b, path+".*")
	}
}

func fieldsByName(m *schema.Map) map[string]schema.Field {
	out := map[string]schema.Field{}
	for _, f := range m.Fields() {
		out[f.Name] = f
	}
	return out
}
