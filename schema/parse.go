package schema

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/deed-project/deed/value"
)

// Parsing of the text form. Each form in the grammar of [ParseDocument] is a method of the reader.
// A table of members says how to read each member of a form. The reader continues after a defect,
// and reports all defects.

// ParseDocument reads the text form of a schema from a decoded YAML or JSON value. Package
// schema/yaml decodes YAML and calls it:
//
//	document  {types: [typeDef, …]}              types are told apart by name
//	typeDef   {name, atom…, untyped}
//	atom…     {scalar, list, map}                any of them, beside the other members
//	list      {elementType: typeRef, elementRelationship, keys: [string, …]}
//	map       {fields: [field, …], elementType: typeRef, elementRelationship, unions: [union, …]}
//	field     {name, type: typeRef, default}     fields are told apart by name
//	typeRef   {namedType, atom…, elementRelationship, nullable, untyped}
//	union     {discriminator, deduceInvalidDiscriminator, fields: [{fieldName, discriminatorValue}, …]}
//	untyped   {elementRelationship}
//
// Every member may be absent or null, except the name of a typeDef and of a field. A null name is
// the empty name. ParseDocument checks unions and untyped, and ignores their content. It accepts
// unknown scalars, unknown relationships, and references to undefined types: [Compile] reports
// them.
//
// ParseDocument reports all errors, joined, each a [*Error]. The errors are an unknown member, a
// value of the wrong kind, a missing or repeated name, and a null item in a list of definitions.
func ParseDocument(v value.Value) (*Document, error) {
	var r reader
	d := &Document{}
	r.object(v, "", members{"types": func(v value.Value, at string) {
		r.named(v, at, "name", func(name string, v value.Value, at string) {
			d.Types = append(d.Types, r.typeDef(name, v, at))
		})
	}})
	if err := errors.Join(r.problems...); err != nil {
		return nil, err
	}
	return d, nil
}

// reader collects the defects of a document. After a defect, its methods return a partial result.
type reader struct{ problems []error }

// members maps the name of each known member to the function that reads it.
type members map[string]func(v value.Value, at string)

// report records a defect at a path.
func (r *reader) report(at, format string, args ...any) {
	r.problems = append(r.problems, &Error{Path: at, Reason: fmt.Sprintf(format, args...)})
}

// present reports whether v has kind want. Null counts as absent. Any other kind is a defect.
func (r *reader) present(v value.Value, want value.Kind, at string) bool {
	switch v.Kind() {
	case want:
		return true
	case value.KindAbsent, value.KindNull:
		return false
	}
	r.report(at, "expected %s, got %s", want, v.Kind())
	return false
}

// object reads the members of an object with the functions in known. Other members are defects.
func (r *reader) object(v value.Value, at string, known members) {
	if !r.present(v, value.KindObject, at) {
		return
	}
	for name, member := range v.Members() {
		if read, ok := known[name]; ok {
			read(member, at+"."+name)
		} else {
			r.report(at+"."+name, "unknown member")
		}
	}
}

// named reads a list of objects whose member key, a string, must be unique.
func (r *reader) named(v value.Value, at, key string, read func(name string, v value.Value, at string)) {
	if !r.present(v, value.KindList, at) {
		return
	}
	seen := make(map[string]bool, v.Len())
	for i := range v.Len() {
		item, here := v.Item(i), fmt.Sprintf("%s[%d]", at, i)
		if item.Kind() != value.KindObject {
			r.report(here, "expected object, got %s", item.Kind())
			continue
		}
		name := item.Get(key)
		if name.IsAbsent() {
			r.report(here, "has no %s", key)
		} else {
			here = fmt.Sprintf("%s[%s=%s]", at, key, name)
			if known := name.Str(); name.IsNull() || name.Kind() == value.KindString {
				if seen[known] {
					r.report(here, "is defined twice")
				}
				seen[known] = true
			}
		}
		read(name.Str(), item, here)
	}
}

// typeDef reads the definition of a type.
func (r *reader) typeDef(name string, v value.Value, at string) TypeDef {
	def := TypeDef{Name: name}
	known := r.atom(&def.Atom)
	known["name"] = func(v value.Value, at string) { r.text(v, at) }
	r.object(v, at, known)
	return def
}

// atom returns the functions that read the members of an atom into a.
func (r *reader) atom(a *Atom) members {
	return members{
		"scalar": func(v value.Value, at string) {
			if word, ok := r.text(v, at); ok {
				if a.Scalar = parseScalarWord(word); a.Scalar == UnknownScalar {
					a.Word = word
				}
			}
		},
		"list": func(v value.Value, at string) {
			if r.present(v, value.KindObject, at) {
				a.List = r.list(v, at)
			}
		},
		"map": func(v value.Value, at string) {
			if r.present(v, value.KindObject, at) {
				a.Map = r.mapDef(v, at)
			}
		},
		"untyped": func(v value.Value, at string) {
			r.object(v, at, members{"elementRelationship": func(v value.Value, at string) { r.text(v, at) }})
		},
	}
}

// parseScalarWord is parseScalar, except that the empty word is an UnknownScalar.
func parseScalarWord(word string) Scalar {
	if word == "" {
		return UnknownScalar
	}
	return parseScalar(word)
}

// list reads a list definition.
func (r *reader) list(v value.Value, at string) *ListDef {
	var l ListDef
	r.object(v, at, members{
		"elementType":         func(v value.Value, at string) { l.ElementType = r.typeRef(v, at) },
		"elementRelationship": func(v value.Value, at string) { l.Relationship = r.relationship(v, at) },
		"keys": func(v value.Value, at string) {
			if !r.present(v, value.KindList, at) {
				return
			}
			for i := range v.Len() {
				key, _ := r.text(v.Item(i), at+"["+strconv.Itoa(i)+"]")
				l.Keys = append(l.Keys, key)
			}
		},
	})
	return &l
}

// mapDef reads a map definition.
func (r *reader) mapDef(v value.Value, at string) *MapDef {
	var m MapDef
	r.object(v, at, members{
		"fields": func(v value.Value, at string) {
			r.named(v, at, "name", func(name string, v value.Value, at string) {
				m.Fields = append(m.Fields, r.field(name, v, at))
			})
		},
		"elementType":         func(v value.Value, at string) { m.ElementType = r.typeRef(v, at) },
		"elementRelationship": func(v value.Value, at string) { m.Relationship = r.relationship(v, at) },
		"unions":              r.unions,
	})
	return &m
}

// field reads the declaration of a field.
func (r *reader) field(name string, v value.Value, at string) FieldDef {
	f := FieldDef{Name: name}
	r.object(v, at, members{
		"name":    func(v value.Value, at string) { r.text(v, at) },
		"type":    func(v value.Value, at string) { f.Type = r.typeRef(v, at) },
		"default": func(v value.Value, _ string) { f.Default = v },
	})
	return f
}

// typeRef reads a reference: a name, or an atom written in place.
func (r *reader) typeRef(v value.Value, at string) TypeRef {
	var ref TypeRef
	known := r.atom(&ref.Inlined)
	known["namedType"] = func(v value.Value, at string) { ref.NamedType, _ = r.text(v, at) }
	known["nullable"] = func(v value.Value, at string) {
		ref.Nullable = r.present(v, value.KindBool, at) && v.Bool()
	}
	known["elementRelationship"] = func(v value.Value, at string) {
		word, written := r.text(v, at)
		if ref.Relationship = Relationship(word); written && word == "" {
			ref.Relationship = Separable // the empty word is an override too: neither atomic nor associative
		}
	}
	r.object(v, at, known)
	return ref
}

// unions checks the unions that older releases wrote, and drops them.
func (r *reader) unions(v value.Value, at string) {
	if !r.present(v, value.KindList, at) {
		return
	}
	text := func(v value.Value, at string) { r.text(v, at) }
	for i := range v.Len() {
		r.object(v.Item(i), fmt.Sprintf("%s[%d]", at, i), members{
			"discriminator":              text,
			"deduceInvalidDiscriminator": func(v value.Value, at string) { r.present(v, value.KindBool, at) },
			"fields": func(v value.Value, at string) {
				r.named(v, at, "fieldName", func(_ string, v value.Value, at string) {
					r.object(v, at, members{"fieldName": text, "discriminatorValue": text})
				})
			},
		})
	}
}

// relationship reads the word for a relationship. The word may be unknown.
func (r *reader) relationship(v value.Value, at string) Relationship {
	word, _ := r.text(v, at)
	return Relationship(word)
}

// text returns the text of v, and whether v is a string.
func (r *reader) text(v value.Value, at string) (string, bool) {
	return v.Str(), r.present(v, value.KindString, at)
}
