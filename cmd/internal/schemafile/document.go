package schemafile

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
)

// DocumentOf returns a schema document that defines t and all types that it needs. A type without a name is written in place, t itself as
// "root".
func DocumentOf(t *schema.Type) *schema.Document {
	w := documentWriter{named: map[string]*schema.Type{}}
	if t.Name() == "" {
		w.document.Types = []schema.TypeDef{{Name: "root", Atom: w.atom(t)}}
	} else {
		w.ref(t)
	}
	for len(w.todo) > 0 {
		next := w.todo[0]
		w.todo = w.todo[1:]
		w.document.Types = append(w.document.Types, schema.TypeDef{Name: next.Name(), Atom: w.atom(next)})
	}
	slices.SortStableFunc(w.document.Types, func(a, b schema.TypeDef) int { return strings.Compare(a.Name, b.Name) })
	return &w.document
}

// documentWriter writes types as definitions.
type documentWriter struct {
	document schema.Document
	named    map[string]*schema.Type // the types from which the definitions are made
	todo     []*schema.Type
}

// ref returns a reference to t. Types with the same name differ at most in the relationship of their map, or else of their list.
func (w *documentWriter) ref(t *schema.Type) schema.TypeRef {
	name := t.Name()
	if name == "" {
		return schema.TypeRef{Inlined: w.atom(t)}
	}
	defined := w.named[name]
	if defined == nil {
		w.named[name], defined = t, t
		w.todo = append(w.todo, t)
	}
	r := schema.TypeRef{NamedType: name}
	if mine := relationship(t); mine != relationship(defined) {
		r.Relationship = mine
	}
	return r
}

// relationship returns the relationship of t's map, or else of its list.
func relationship(t *schema.Type) schema.Relationship {
	switch m, l := t.Map(), t.List(); {
	case m != nil && m.Atomic():
		return schema.Atomic
	case m != nil:
		return schema.Separable
	case l != nil:
		return listRelationship(l)
	}
	return ""
}

func listRelationship(l *schema.List) schema.Relationship {
	switch l.Topology() {
	case schema.AtomicList:
		return schema.Atomic
	case schema.SetList, schema.KeyedList:
		return schema.Associative
	}
	return ""
}

func (w *documentWriter) atom(t *schema.Type) schema.Atom {
	a := schema.Atom{Scalar: t.Scalar()}
	if l := t.List(); l != nil {
		a.List = &schema.ListDef{ElementType: w.ref(l.Element()), Relationship: listRelationship(l)}
		for _, k := range l.Keys() {
			a.List.Keys = append(a.List.Keys, k.Name)
		}
	}
	if m := t.Map(); m != nil {
		a.Map = &schema.MapDef{}
		if m.Atomic() {
			a.Map.Relationship = schema.Atomic
		}
		for _, f := range m.Fields() {
			a.Map.Fields = append(a.Map.Fields, schema.FieldDef{Name: f.Name, Type: w.ref(f.Type), Default: f.Default})
		}
		if e := m.Element(); e != nil {
			a.Map.ElementType = w.ref(e)
		}
	}
	return a
}
