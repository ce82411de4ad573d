package gen

import (
	"slices"
	"strconv"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// Schema is a schema document that describes one kind of object in several versions.
type Schema struct {
	Document *schema.Document
	Versions []Version
	// Renames are the members of the root that have other names in later versions.
	Renames []Rename
	// Open reports that the relationship of some lists is undefined, which [schema.Compile] reports as a problem; see OpenLists.
	Open bool
}

// Version is one version of the kind.
type Version struct {
	Name string // such as v1
	Root string // name of the type of its objects
}

// Rename says that a member of the root has the name First in Versions[0] and Other in all other versions. Conversion renames in both
// directions, so that it loses nothing.
type Rename struct{ First, Other string }

// Convert returns content, an object of version from, in version to, with renamed members.
func (s *Schema) Convert(content value.Value, from, to string) value.Value {
	first := s.Versions[0].Name
	if from == to || from != first && to != first || content.Kind() != value.KindObject {
		return content
	}
	for _, r := range s.Renames {
		a, b := content.Get(r.First), content.Get(r.Other)
		content = content.With(r.First, b).With(r.Other, a)
	}
	return content
}

// NewSchema makes a schema with the versions v1, v2 and v3. [schema.Compile] reports no problem in it.
func NewSchema(c *Choices) *Schema {
	b := schemaBuilder{c: c}
	for i := range c.N(4) {
		b.names = append(b.names, "t"+strconv.Itoa(i))
	}
	first := &schema.Document{Types: []schema.TypeDef{{Name: "root", Atom: b.root()}}}
	for _, name := range slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return name[0] == 'i' }) {
		first.Types = append(first.Types, schema.TypeDef{Name: name, Atom: b.atom(2)})
	}
	first.Types = append(first.Types, b.items...)
	b.addOverrides(first)
	out := &Schema{Versions: []Version{{"v1", "root"}, {"v2", "root.v2"}, {"v3", "root.v2.v3"}}}
	second := renamed(first, ".v2")
	b.changeTopology(second)
	b.renameField(out, second)
	third := renamed(second, ".v3")
	b.changeTopology(third)
	out.Document = &schema.Document{Types: slices.Concat(first.Types, second.Types, third.Types, schemas.DeducedTypes())}
	return out
}

// fieldNames are the names of fields. The later ones are awkward.
var fieldNames = []string{"a", "b", "c", "d", "e", "a.b", "é", "", "f:a", "<&>", "\"q\"", "a\nb", "\u2028", "."}

type schemaBuilder struct {
	c     *Choices
	names []string         // of types for references
	items []schema.TypeDef // types of list items with a name; their names are in names
}

func (b *schemaBuilder) fieldName() string {
	if b.c.Chance(10) {
		return Pick(b.c, fieldNames...)
	}
	return Pick(b.c, fieldNames[:5]...)
}

// root makes the type of objects, mostly an object with fields.
func (b *schemaBuilder) root() schema.Atom {
	if b.c.Chance(8) {
		return b.atom(3)
	}
	return schema.Atom{Map: b.structure(3, 3+b.c.N(4))}
}

// atom makes an atom of any kind, with at most depth levels of inlined types below.
func (b *schemaBuilder) atom(depth int) schema.Atom {
	if depth <= 0 {
		return b.scalar()
	}
	switch n := b.c.N(100); {
	case n < 20:
		return b.scalar()
	case n < 30:
		return schema.Atom{List: b.setList()}
	case n < 50:
		return schema.Atom{List: b.keyedList(depth)}
	case n < 58:
		return schema.Atom{List: &schema.ListDef{ElementType: b.ref(depth - 1), Relationship: schema.Atomic}}
	case n < 70:
		return schema.Atom{Map: &schema.MapDef{ElementType: b.ref(depth - 1), Relationship: b.mapRelationship()}}
	case n < 92:
		return schema.Atom{Map: b.structure(depth, 1+b.c.N(3))}
	}
	return b.union(depth)
}

func (b *schemaBuilder) scalar() schema.Atom {
	return schema.Atom{Scalar: Pick(b.c, schema.String, schema.Numeric, schema.Boolean, schema.Untyped)}
}

func (b *schemaBuilder) mapRelationship() schema.Relationship {
	if b.c.Chance(25) {
		return schema.Atomic
	}
	return Pick(b.c, "", schema.Separable)
}

// union makes an atom that admits values of several kinds.
func (b *schemaBuilder) union(depth int) schema.Atom {
	out := schema.Atom{}
	kinds := 3 + b.c.N(5)
	if kinds&1 != 0 {
		out.Scalar = b.scalar().Scalar
	}
	if kinds&2 != 0 {
		out.List = Pick(b.c, b.setList, func() *schema.ListDef { return b.keyedList(depth) }, func() *schema.ListDef {
			return &schema.ListDef{ElementType: b.ref(depth - 1), Relationship: schema.Atomic}
		})()
	}
	if kinds&4 != 0 {
		out.Map = &schema.MapDef{ElementType: b.ref(depth - 1), Relationship: b.mapRelationship()}
	}
	return out
}

func (b *schemaBuilder) setList() *schema.ListDef {
	return &schema.ListDef{ElementType: schema.TypeRef{Inlined: b.scalar()}, Relationship: schema.Associative}
}

// keyNames are the names of key fields.
var keyNames = []string{"name", "id", "a"}

func (b *schemaBuilder) keyedList(depth int) *schema.ListDef {
	element := b.structure(depth-1, 1+b.c.N(2))
	keys := slices.Clone(keyNames)
	Shuffle(b.c, keys)
	keys = keys[:1+min(b.c.N(3), b.c.N(3))]
	for _, key := range keys {
		element.Fields = slices.DeleteFunc(element.Fields, func(f schema.FieldDef) bool { return f.Name == key })
		element.Fields = append(element.Fields, b.keyField(key))
	}
	out := &schema.ListDef{Keys: keys, Relationship: schema.Associative}
	atom := schema.Atom{Map: element}
	if b.c.Chance(30) {
		name := "item" + strconv.Itoa(len(b.items))
		b.names = append(b.names, name)
		b.items = append(b.items, schema.TypeDef{Name: name, Atom: atom})
		out.ElementType.NamedType = name
	} else {
		out.ElementType.Inlined = atom
	}
	return out
}

func (b *schemaBuilder) keyField(name string) schema.FieldDef {
	scalar := b.scalar()
	out := schema.FieldDef{Name: name, Type: schema.TypeRef{Inlined: scalar}}
	if b.c.Chance(30) {
		v := Values{Choices: b.c}
		out.Default = v.scalar(scalar.Scalar)
	}
	return out
}

// structure makes an object type with up to n fields, and sometimes with an element type.
func (b *schemaBuilder) structure(depth, n int) *schema.MapDef {
	out := &schema.MapDef{}
	for range n {
		if name := b.fieldName(); !slices.ContainsFunc(out.Fields, func(f schema.FieldDef) bool { return f.Name == name }) {
			out.Fields = append(out.Fields, schema.FieldDef{Name: name, Type: b.ref(depth - 1)})
		}
	}
	if b.c.Chance(15) {
		out.ElementType = b.ref(depth - 1)
	}
	if b.c.Chance(8) {
		out.Relationship = schema.Atomic
	}
	return out
}

// ref makes a reference to a type: by name, inlined, or to a type for values without a schema.
func (b *schemaBuilder) ref(depth int) schema.TypeRef {
	switch n := b.c.N(100); {
	case n < 60 || len(b.names) == 0 && n < 90:
		return schema.TypeRef{Inlined: b.atom(depth)}
	case n < 90:
		return schema.TypeRef{NamedType: Pick(b.c, b.names...)}
	case n < 96:
		return schema.TypeRef{NamedType: schema.DeducedName}
	}
	return schema.TypeRef{NamedType: schema.UntypedAtomicName}
}
