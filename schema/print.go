package schema

import "github.com/deed-project/deed/value"

// Printing of the text form. Each method writes one form of the grammar of [ParseDocument].

// Value returns the text form of d, without zero parts. [ParseDocument] reads it back to an equal
// document.
func (d *Document) Value() value.Value {
	if d == nil {
		d = &Document{}
	}
	types := make([]value.Value, len(d.Types))
	for i, def := range d.Types {
		types[i] = value.Object(append(def.Atom.members(), value.Member{Name: "name", Value: value.String(def.Name)})...)
	}
	return value.Object(value.Member{Name: "types", Value: value.List(types...)})
}

// members returns the members of a in the text form.
func (a Atom) members() []value.Member {
	var out []value.Member
	if a.Scalar != None {
		word := a.Scalar.String()
		if a.Scalar == UnknownScalar {
			word = a.Word
		}
		out = append(out, value.Member{Name: "scalar", Value: value.String(word)})
	}
	if a.List != nil {
		out = append(out, value.Member{Name: "list", Value: a.List.value()})
	}
	if a.Map != nil {
		out = append(out, value.Member{Name: "map", Value: a.Map.value()})
	}
	return out
}

// value returns the text form of l.
func (l *ListDef) value() value.Value {
	out := elements(l.ElementType, l.Relationship)
	if len(l.Keys) > 0 {
		keys := make([]value.Value, len(l.Keys))
		for i, key := range l.Keys {
			keys[i] = value.String(key)
		}
		out = append(out, value.Member{Name: "keys", Value: value.List(keys...)})
	}
	return value.Object(out...)
}

// value returns the text form of m.
func (m *MapDef) value() value.Value {
	out := elements(m.ElementType, m.Relationship)
	if len(m.Fields) > 0 {
		fields := make([]value.Value, len(m.Fields))
		for i, f := range m.Fields {
			fields[i] = f.value()
		}
		out = append(out, value.Member{Name: "fields", Value: value.List(fields...)})
	}
	return value.Object(out...)
}

// elements returns the members that lists and maps have in common.
func elements(element TypeRef, r Relationship) []value.Member {
	var out []value.Member
	if element != (TypeRef{}) {
		out = append(out, value.Member{Name: "elementType", Value: element.value()})
	}
	if r != "" {
		out = append(out, value.Member{Name: "elementRelationship", Value: value.String(string(r))})
	}
	return out
}

// value returns the text form of f.
func (f FieldDef) value() value.Value {
	out := []value.Member{{Name: "name", Value: value.String(f.Name)}}
	if f.Type != (TypeRef{}) {
		out = append(out, value.Member{Name: "type", Value: f.Type.value()})
	}
	if !f.Default.IsAbsent() {
		out = append(out, value.Member{Name: "default", Value: f.Default})
	}
	return value.Object(out...)
}

// value returns the text form of r.
func (r TypeRef) value() value.Value {
	out := r.Inlined.members()
	if r.NamedType != "" {
		out = append(out, value.Member{Name: "namedType", Value: value.String(r.NamedType)})
	}
	if r.Relationship != "" {
		out = append(out, value.Member{Name: "elementRelationship", Value: value.String(string(r.Relationship))})
	}
	if r.Nullable {
		out = append(out, value.Member{Name: "nullable", Value: value.Bool(true)})
	}
	return value.Object(out...)
}
