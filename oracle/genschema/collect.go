package main

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/deed-project/deed/oracle/kinds"
)

// untypedKind is a kind of a scheme that the scheme's converter has no type for.
type untypedKind struct {
	gvk schema.GroupVersionKind
	err error
}

func (u untypedKind) String() string { return fmt.Sprintf("%v: %v", u.gvk, u.err) }

// collect gets the type of every kind from every source. It returns all types of the schemas, sorted by name, and the kinds, sorted by
// group, version and kind. It also returns the kinds without a type. One source with a type is enough for a kind. Two types of one name
// must be equal.
func collect(sources []kinds.Source) (document, []untypedKind, error) {
	types := map[string]smdschema.TypeDef{}
	found := map[schema.GroupVersionKind]kind{}
	failed := map[schema.GroupVersionKind]error{}
	for _, src := range sources {
		seen := map[*smdschema.Schema]bool{}
		for gvk := range src.Scheme.AllKnownTypes() {
			name, sch, err := typeOf(src, gvk)
			if err != nil {
				failed[gvk] = err
				continue
			}
			if other, ok := found[gvk]; ok && other.Type != name {
				return document{}, nil, fmt.Errorf("%v has two types, %s and %s", gvk, other.Type, name)
			}
			if found[gvk], err = describe(src, gvk, name); err != nil {
				return document{}, nil, err
			}
			if seen[sch] {
				continue
			}
			seen[sch] = true
			if err := addTypes(types, sch); err != nil {
				return document{}, nil, err
			}
		}
	}
	doc, err := newDocument(types, found)
	return doc, sortUntyped(failed, found), err
}

// typeOf returns the name of gvk's type and the schema that defines it.
func typeOf(src kinds.Source, gvk schema.GroupVersionKind) (string, *smdschema.Schema, error) {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	t, err := src.Types.ObjectToTyped(obj)
	if err != nil {
		return "", nil, err
	}
	ref := t.TypeRef()
	if ref.NamedType == nil || ref.ElementRelationship != nil {
		return "", nil, fmt.Errorf("type %v is not a plain name", ref)
	}
	return *ref.NamedType, t.Schema(), nil
}

// describe returns the entry of gvk, whose type has the given name.
func describe(src kinds.Source, gvk schema.GroupVersionKind, name string) (kind, error) {
	obj, err := src.Scheme.New(gvk)
	if err != nil {
		return kind{}, err
	}
	empty, err := emptyObject(obj)
	return kind{gvk.Group, gvk.Version, gvk.Kind, name, empty}, err
}

// addTypes adds the types of sch. The schemas repeat the types of package meta/v1, which must be equal.
func addTypes(types map[string]smdschema.TypeDef, sch *smdschema.Schema) error {
	for i := range sch.Types {
		def := sch.Types[i]
		other, ok := types[def.Name]
		if !ok {
			types[def.Name] = def
			continue
		}
		a, err := convertType(other)
		if err != nil {
			return err
		}
		b, err := convertType(def)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(a, b) {
			return fmt.Errorf("two different types are named %s", def.Name)
		}
	}
	return nil
}

// sortUntyped returns the kinds of failed that no source has a type for, sorted.
func sortUntyped(failed map[schema.GroupVersionKind]error, typed map[schema.GroupVersionKind]kind) []untypedKind {
	var out []untypedKind
	for _, gvk := range slices.SortedFunc(maps.Keys(failed), compareGVK) {
		if _, ok := typed[gvk]; !ok {
			out = append(out, untypedKind{gvk, failed[gvk]})
		}
	}
	return out
}

func compareGVK(a, b schema.GroupVersionKind) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
}
