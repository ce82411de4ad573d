package schema

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/value"
)

// Parsing of the text form. Each form in the grammar of [ParseDocument] is a method of the reader,
// which says how to read each member of the form. The reader continues after a defect, and reports
// all defects.

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
	r.object(v, nil, func(member string, v value.Value, at *location) bool {
		if member != "types" {
			return false
		}
		r.named(v, at, "name", func(name string, v value.Value, at *location) {
			d.Types = append(d.Types, r.typeDef(name, v, at))
		})
		return true
	})
	if err := errors.Join(r.problems...); err != nil {
		return nil, err
	}
	return d, nil
}

// reader collects the defects of a document. After a defect, its methods return a partial result.
type reader struct{ problems []error }

// location leads to a member or an item of the value at up. The root is nil. It becomes text only
// for defects.
type location struct {
	up     *location
	member string      // the name of a member; empty for an item
	key    string      // the member that tells the item apart, if it has one
	item   value.Value // the value of that member
	index  int         // of an item that has none
}

// String returns the path from the root, such as .types[name="a"].map.
func (l *location) String() string {
	switch {
	case l == nil:
		return ""
	case l.key != "":
		return fmt.Sprintf("%v[%s=%v]", l.up, l.key, l.item)
	case l.index >= 0:
		return fmt.Sprintf("%v[%d]", l.up, l.index)
	}
	return l.up.String() + "." + l.member
}

// at returns the location of item i of the value at l.
func (l *location) at(i int) *location { return &location{up: l, index: i} }

// report records a defect at a path.
func (r *reader) report(at *location, format string, args ...any) {
	r.problems = append(r.problems, &Error{Path: at.String(), Reason: fmt.Sprintf(format, args...)})
}

// present reports whether v has kind want. Null counts as absent. Any other kind is a defect.
func (r *reader) present(v value.Value, want value.Kind, at *location) bool {
	switch v.Kind() {
	case want:
		return true
	case value.KindAbsent, value.KindNull:
		return false
	}
	r.report(at, "expected %s, got %s", want, v.Kind())
	return false
}

// object reads the members of an object. read returns false for a member that it does not know,
// which is a defect.
func (r *reader) object(v value.Value, at *location, read func(member string, v value.Value, at *location) bool) {
	if !r.present(v, value.KindObject, at) {
		return
	}
	for name, member := range v.Members() {
		here := &location{up: at, member: name, index: -1}
		if !read(name, member, here) {
			r.report(here, "unknown member")
		}
	}
}

// named reads a list of objects whose member key, a string, must be unique.
func (r *reader) named(v value.Value, at *location, key string, read func(name string, v value.Value, at *location)) {
	if !r.present(v, value.KindList, at) {
		return
	}
	seen := make(map[string]bool, v.Len())
	for i := range v.Len() {
		item, here := v.Item(i), at.at(i)
		if item.Kind() != value.KindObject {
			r.report(here, "expected object, got %s", item.Kind())
			continue
		}
		name := item.Get(key)
		if name.IsAbsent() {
			r.report(here, "has no %s", key)
		} else {
			here.key, here.item = key, name
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
func (r *reader) typeDef(name string, v value.Value, at *location) TypeDef {
	def := TypeDef{Name: name}
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		if member == "name" {
			r.text(v, at)
			return true
		}
		return r.atom(&def.Atom, member, v, at)
	})
	return def
}

// atom reads a member of an atom into a. It returns false for others.
func (r *reader) atom(a *Atom, member string, v value.Value, at *location) bool {
	switch member {
	case "scalar":
		if word, ok := r.text(v, at); ok {
			if a.Scalar = parseScalarWord(word); a.Scalar == UnknownScalar {
				a.Word = word
			}
		}
	case "list":
		if r.present(v, value.KindObject, at) {
			a.List = r.list(v, at)
		}
	case "map":
		if r.present(v, value.KindObject, at) {
			a.Map = r.mapDef(v, at)
		}
	case "untyped":
		r.object(v, at, func(member string, v value.Value, at *location) bool {
			if member != "elementRelationship" {
				return false
			}
			r.text(v, at)
			return true
		})
	default:
		return false
	}
	return true
}

// parseScalarWord is parseScalar, except that the empty word is an UnknownScalar.
func parseScalarWord(word string) Scalar {
	if word == "" {
		return UnknownScalar
	}
	return parseScalar(word)
}

// list reads a list definition.
func (r *reader) list(v value.Value, at *location) *ListDef {
	var l ListDef
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		switch member {
		case "elementType":
			l.ElementType = r.typeRef(v, at)
		case "elementRelationship":
			l.Relationship = r.relationship(v, at)
		case "keys":
			l.Keys = r.keys(v, at)
		default:
			return false
		}
		return true
	})
	return &l
}

// keys reads a list of names.
func (r *reader) keys(v value.Value, at *location) (keys []string) {
	if !r.present(v, value.KindList, at) {
		return nil
	}
	for i := range v.Len() {
		key, _ := r.text(v.Item(i), at.at(i))
		keys = append(keys, key)
	}
	return keys
}

// mapDef reads a map definition.
func (r *reader) mapDef(v value.Value, at *location) *MapDef {
	var m MapDef
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		switch member {
		case "fields":
			m.Fields = make([]FieldDef, 0, v.Len())
			r.named(v, at, "name", func(name string, v value.Value, at *location) {
				m.Fields = append(m.Fields, r.field(name, v, at))
			})
		case "elementType":
			m.ElementType = r.typeRef(v, at)
		case "elementRelationship":
			m.Relationship = r.relationship(v, at)
		case "unions":
			r.unions(v, at)
		default:
			return false
		}
		return true
	})
	return &m
}

// field reads the declaration of a field.
func (r *reader) field(name string, v value.Value, at *location) FieldDef {
	f := FieldDef{Name: name}
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		switch member {
		case "name":
			r.text(v, at)
		case "type":
			f.Type = r.typeRef(v, at)
		case "default":
			f.Default = v
		default:
			return false
		}
		return true
	})
	return f
}

// typeRef reads a reference: a name, or an atom written in place.
func (r *reader) typeRef(v value.Value, at *location) TypeRef {
	var ref TypeRef
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		switch member {
		case "namedType":
			ref.NamedType, _ = r.text(v, at)
		case "nullable":
			ref.Nullable = r.present(v, value.KindBool, at) && v.Bool()
		case "elementRelationship":
			word, written := r.text(v, at)
			if ref.Relationship = Relationship(word); written && word == "" {
				ref.Relationship = Separable // the empty word is an override too: neither atomic nor associative
			}
		default:
			return r.atom(&ref.Inlined, member, v, at)
		}
		return true
	})
	return ref
}

// unions checks the unions that older releases wrote, and drops them.
func (r *reader) unions(v value.Value, at *location) {
	if !r.present(v, value.KindList, at) {
		return
	}
	for i := range v.Len() {
		r.object(v.Item(i), at.at(i), func(member string, v value.Value, at *location) bool {
			switch member {
			case "discriminator":
				r.text(v, at)
			case "deduceInvalidDiscriminator":
				r.present(v, value.KindBool, at)
			case "fields":
				r.named(v, at, "fieldName", r.unionField)
			default:
				return false
			}
			return true
		})
	}
}

// unionField checks a field of a union.
func (r *reader) unionField(_ string, v value.Value, at *location) {
	r.object(v, at, func(member string, v value.Value, at *location) bool {
		if member != "fieldName" && member != "discriminatorValue" {
			return false
		}
		r.text(v, at)
		return true
	})
}

// relationship reads the word for a relationship. The word may be unknown.
func (r *reader) relationship(v value.Value, at *location) Relationship {
	word, _ := r.text(v, at)
	return Relationship(word)
}

// text returns the text of v, and whether v is a string.
func (r *reader) text(v value.Value, at *location) (string, bool) {
	return v.Str(), r.present(v, value.KindString, at)
}
