package gen

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/schema"
)

// renamed returns a deep copy of d with suffix appended to the name of every type.
func renamed(d *schema.Document, suffix string) *schema.Document {
	out := &schema.Document{}
	for _, def := range d.Types {
		out.Types = append(out.Types, schema.TypeDef{Name: def.Name + suffix, Atom: def.Atom})
	}
	for i := range out.Types {
		copyAtom(&out.Types[i].Atom, suffix)
	}
	return out
}

// copyAtom makes a deep copy of the parts of a, and appends suffix to the names that a refers to.
func copyAtom(a *schema.Atom, suffix string) {
	if a.List != nil {
		list := *a.List
		list.Keys = slices.Clone(list.Keys)
		copyRef(&list.ElementType, suffix)
		a.List = &list
	}
	if a.Map != nil {
		object := *a.Map
		object.Fields = slices.Clone(object.Fields)
		for i := range object.Fields {
			copyRef(&object.Fields[i].Type, suffix)
		}
		copyRef(&object.ElementType, suffix)
		a.Map = &object
	}
}

func copyRef(r *schema.TypeRef, suffix string) {
	switch r.NamedType {
	case "", schema.DeducedName, schema.UntypedAtomicName:
	default:
		r.NamedType += suffix
	}
	copyAtom(&r.Inlined, suffix)
}

// walkAtom calls visit for every reference in a, at any depth of inlined types.
func walkAtom(a *schema.Atom, visit func(*schema.TypeRef)) {
	walkRef := func(r *schema.TypeRef) {
		if *r != (schema.TypeRef{}) {
			visit(r)
			walkAtom(&r.Inlined, visit)
		}
	}
	if a.List != nil {
		walkRef(&a.List.ElementType)
	}
	if a.Map != nil {
		for i := range a.Map.Fields {
			walkRef(&a.Map.Fields[i].Type)
		}
		walkRef(&a.Map.ElementType)
	}
}

// addOverrides sets a relationship on some references.
func (b *schemaBuilder) addOverrides(d *schema.Document) {
	atoms := map[string]*schema.Atom{}
	for i := range d.Types {
		atoms[d.Types[i].Name] = &d.Types[i].Atom
	}
	for i := range d.Types {
		walkAtom(&d.Types[i].Atom, func(r *schema.TypeRef) {
			atom := &r.Inlined
			if r.NamedType != "" {
				atom = atoms[r.NamedType]
			}
			if atom != nil && b.c.Chance(12) {
				r.Relationship = b.override(atom)
			}
		})
	}
}

// override chooses a relationship for a reference to atom, or none if atom admits no other.
func (b *schemaBuilder) override(atom *schema.Atom) schema.Relationship {
	switch {
	case atom.Map != nil:
		return Pick(b.c, schema.Atomic, schema.Separable)
	case atom.List != nil && hasIdentity(atom.List):
		return Pick(b.c, schema.Atomic, schema.Associative)
	case atom.List != nil:
		return schema.Atomic
	}
	return ""
}

// hasIdentity reports whether the items of l have an identity: l has keys, or they are scalars.
func hasIdentity(l *schema.ListDef) bool {
	element := l.ElementType
	return len(l.Keys) > 0 || element.NamedType == "" && element.Inlined.List == nil && element.Inlined.Map == nil
}

// changeTopology makes some atomic types granular, and some granular types atomic. It keeps the root.
func (b *schemaBuilder) changeTopology(d *schema.Document) {
	for i := range d.Types {
		atom := &d.Types[i].Atom
		if i > 0 {
			b.toggle(atom)
		}
		walkAtom(atom, func(r *schema.TypeRef) {
			b.toggle(&r.Inlined)
			if r.Relationship != "" && b.c.Chance(10) {
				r.Relationship = ""
			}
		})
	}
}

// OpenLists leaves the relationship of some lists of s undefined.
func (s *Schema) OpenLists(c *Choices) {
	s.Open = true
	open := func(atom *schema.Atom) {
		if atom.List != nil && c.Chance(30) {
			atom.List.Relationship = ""
		}
	}
	for i := range s.Document.Types {
		if atom := &s.Document.Types[i].Atom; !strings.HasPrefix(s.Document.Types[i].Name, "__") {
			open(atom)
			walkAtom(atom, func(r *schema.TypeRef) { open(&r.Inlined) })
		}
	}
}

func (b *schemaBuilder) toggle(atom *schema.Atom) {
	if atom.Map != nil && b.c.Chance(10) {
		if atom.Map.Relationship != schema.Atomic {
			atom.Map.Relationship = schema.Atomic
		} else {
			atom.Map.Relationship = schema.Separable
		}
	}
	if atom.List != nil && hasIdentity(atom.List) && b.c.Chance(10) {
		if atom.List.Relationship != schema.Atomic {
			atom.List.Relationship = schema.Atomic
		} else {
			atom.List.Relationship = schema.Associative
		}
	}
}

// renameField renames one field of the root of d, the second version.
func (b *schemaBuilder) renameField(s *Schema, d *schema.Document) {
	root := d.Types[0].Map
	if root == nil || len(root.Fields) == 0 || !b.c.Chance(20) {
		return
	}
	field := &root.Fields[b.c.N(len(root.Fields))]
	s.Renames = []Rename{{First: field.Name, Other: "renamed"}}
	field.Name = "renamed"
}
