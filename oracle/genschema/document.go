package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	smdschema "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// document is the generated file. Its types use the member names of the reference library's schema text, so that readers of such texts can
// read it.
type document struct {
	Types []typeDef `json:"types"`
	GVKs  []kind    `json:"gvks"`
}

// kind has the type of a group, version and kind, and the text of an empty object apart from apiVersion and kind. Kubernetes holds objects
// as Go structs, and some fields print although they are not set.
type kind struct {
	Group   string          `json:"group"`
	Version string          `json:"version"`
	Kind    string          `json:"kind"`
	Type    string          `json:"type"`
	Empty   json.RawMessage `json:"empty,omitempty"`
}

type typeDef struct {
	Name string `json:"name"`
	atom
}

// atom is a type: any of the three members that is present.
type atom struct {
	Scalar string   `json:"scalar,omitempty"`
	List   *list    `json:"list,omitempty"`
	Map    *mapType `json:"map,omitempty"`
}

type list struct {
	ElementType         *typeRef `json:"elementType,omitempty"`
	ElementRelationship string   `json:"elementRelationship,omitempty"`
	Keys                []string `json:"keys,omitempty"`
}

type mapType struct {
	Fields              []field  `json:"fields,omitempty"`
	ElementType         *typeRef `json:"elementType,omitempty"`
	ElementRelationship string   `json:"elementRelationship,omitempty"`
}

type field struct {
	Name    string          `json:"name"`
	Type    *typeRef        `json:"type,omitempty"`
	Default json.RawMessage `json:"default,omitempty"`
}

// typeRef names a type or inlines it.
type typeRef struct {
	NamedType string `json:"namedType,omitempty"`
	atom
	ElementRelationship string `json:"elementRelationship,omitempty"`
	Nullable            bool   `json:"nullable,omitempty"`
}

// newDocument sorts types by name and kinds by group, version and kind.
func newDocument(types map[string]smdschema.TypeDef, found map[schema.GroupVersionKind]kind) (document, error) {
	var doc document
	for _, name := range slices.Sorted(maps.Keys(types)) {
		def, err := convertType(types[name])
		if err != nil {
			return document{}, err
		}
		doc.Types = append(doc.Types, def)
	}
	for _, gvk := range slices.SortedFunc(maps.Keys(found), compareGVK) {
		doc.GVKs = append(doc.GVKs, found[gvk])
	}
	return doc, nil
}

// emptyObject returns the text of obj, in which no field is set, or nil if it is empty.
func emptyObject(obj runtime.Object) (json.RawMessage, error) {
	text, err := json.Marshal(obj)
	if err != nil || string(text) == "{}" {
		return nil, err
	}
	return text, nil
}

func convertType(def smdschema.TypeDef) (typeDef, error) {
	a, err := convertAtom(def.Atom)
	if err != nil {
		return typeDef{}, fmt.Errorf("type %s: %w", def.Name, err)
	}
	return typeDef{def.Name, a}, nil
}

func convertAtom(a smdschema.Atom) (atom, error) {
	var out atom
	if a.Scalar != nil {
		out.Scalar = string(*a.Scalar)
	}
	if a.List != nil {
		elem, err := convertRef(a.List.ElementType)
		if err != nil {
			return atom{}, err
		}
		out.List = &list{elem, string(a.List.ElementRelationship), a.List.Keys}
	}
	if a.Map == nil {
		return out, nil
	}
	m, err := convertMap(a.Map)
	out.Map = m
	return out, err
}

// convertMap drops unions, which the reference library parses but ignores.
func convertMap(m *smdschema.Map) (*mapType, error) {
	elem, err := convertRef(m.ElementType)
	if err != nil {
		return nil, err
	}
	out := &mapType{ElementType: elem, ElementRelationship: string(m.ElementRelationship)}
	for _, f := range m.Fields {
		ref, err := convertRef(f.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		def, err := convertDefault(f.Default)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		out.Fields = append(out.Fields, field{f.Name, ref, def})
	}
	return out, nil
}

// convertRef returns nil for an empty reference.
func convertRef(ref smdschema.TypeRef) (*typeRef, error) {
	if ref == (smdschema.TypeRef{}) {
		return nil, nil
	}
	inlined, err := convertAtom(ref.Inlined)
	if err != nil {
		return nil, err
	}
	out := &typeRef{atom: inlined, Nullable: nullable(ref)}
	if ref.NamedType != nil {
		out.NamedType = *ref.NamedType
	}
	if ref.ElementRelationship != nil {
		out.ElementRelationship = string(*ref.ElementRelationship)
	}
	return out, nil
}

// convertDefault prints a field's default, which was parsed from YAML, as JSON. It returns nil for a field without a default.
func convertDefault(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	plain, err := plainValue(v)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plain)
}

// plainValue converts the maps of the YAML parser to maps that JSON can print.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case map[any]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			s, ok := name.(string)
			if !ok {
				return nil, fmt.Errorf("default has the member name %v, which is no string", name)
			}
			plain, err := plainValue(member)
			if err != nil {
				return nil, err
			}
			out[s] = plain
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			plain, err := plainValue(item)
			if err != nil {
				return nil, err
			}
			out[i] = plain
		}
		return out, nil
	case nil, string, bool, int, int64, float64:
		return v, nil
	}
	return nil, fmt.Errorf("default of type %T", v)
}

// encode prints doc as JSON without spaces, with one item of its lists per line, so that a reader can find an item.
func encode(doc document) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"types":[`)
	err := lines(&b, doc.Types)
	b.WriteString(`],"gvks":[`)
	err = errors.Join(err, lines(&b, doc.GVKs))
	b.WriteString("]}\n")
	return b.Bytes(), err
}

func lines[T any](b *bytes.Buffer, items []T) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for i, item := range items {
		if i > 0 {
			b.Truncate(b.Len() - 1) // the line end, which the encoder adds
			b.WriteString(",")
		}
		b.WriteString("\n")
		if err := enc.Encode(item); err != nil {
			return err
		}
	}
	return nil
}
