package rules

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	bounded "github.com/deed-project/deed/server/cel"
	"github.com/deed-project/deed/value"
)

// self is the only variable of rules. It implements interpreter.Activation.
type self struct{ value ref.Val }

// ResolveName returns the value of the variable.
func (s self) ResolveName(name string) (any, bool) { return s.value, name == cel.ScopedVarName }

// Parent returns nil.
func (self) Parent() interpreter.Activation { return nil }

// shape says how rules see the values of a schema: it implements bounded.Shape. It builds each part once.
//
// It is immutable, and follows the schema as a tree. It is a common.Schema too, since the library converts what val does not.
type shape struct {
	common.Schema
	form       form
	items      *shape
	properties map[string]common.Schema // each value is a *shape
	additional *additional
}

// form tells how rules see a value that has the type of its schema.
type form uint8

const (
	asLibrary form = iota // the library converts it
	asObject
	asList
	asText
	asInteger
	asNumber
	asBoolean
	asTextOrInteger
)

// newShape returns the shape of a schema, with those of all schemas below it.
func newShape(s *schema.Structural) *shape {
	out := &shape{Schema: &model.Structural{Structural: s}}
	if s.Items != nil {
		out.items = newShape(s.Items)
	}
	if s.Properties != nil {
		out.properties = make(map[string]common.Schema, len(s.Properties))
	}
	for name, p := range s.Properties {
		out.properties[name] = newShape(&p)
	}
	if a := s.AdditionalProperties; a != nil {
		out.additional = &additional{allows: a.Bool}
		if a.Structural != nil {
			out.additional.schema = newShape(a.Structural)
		}
	}
	out.form = out.formOf()
	return out
}

// formOf decides how values are seen. Strings with some formats become times, durations or bytes; those and embedded resources are left to
// the library.
func (s *shape) formOf() form {
	switch {
	case s.IsXIntOrString():
		return asTextOrInteger
	case s.Type() == "object" && !s.IsXEmbeddedResource():
		return asObject
	case s.Type() == "array" && s.items != nil && slices.Contains([]string{"", "atomic", "set", "map"}, s.XListType()):
		return asList
	case s.Type() == "string" && !slices.Contains([]string{"duration", "date", "date-time", "byte"}, s.Format()):
		return asText
	case s.Type() == "integer":
		return asInteger
	case s.Type() == "number":
		return asNumber
	case s.Type() == "boolean":
		return asBoolean
	}
	return asLibrary
}

// val returns v in the form that rules see. It costs almost nothing unless the library must convert v.
//
// A value of another kind than the schema demands is left to the library, too, which makes an error of it.
func (s *shape) val(v value.Value) ref.Val {
	switch kind := v.Kind(); {
	case kind == value.KindObject && s.form == asObject:
		return bounded.NewObject(v, s)
	case kind == value.KindList && s.form == asList:
		return bounded.NewList(v, s)
	case kind == value.KindString && (s.form == asText || s.form == asTextOrInteger):
		return types.String(v.Str())
	case kind == value.KindInt && (s.form == asInteger || s.form == asTextOrInteger):
		return types.Int(v.Int())
	case (kind == value.KindInt || kind == value.KindFloat) && s.form == asNumber:
		return types.Double(v.Float())
	case kind == value.KindBool && s.form == asBoolean:
		return types.Bool(v.Bool())
	}
	return s.Library(v)
}

// Library converts a value to the form of the library, by the schema.
func (s *shape) Library(v value.Value) ref.Val { return common.UnstructuredToVal(v.ToAny(), s) }

// Member returns a member of an object, and whether rules see it. In an object with properties, they see no null members.
func (s *shape) Member(object value.Value, name string) (member ref.Val, found, ok bool) {
	named := s.properties != nil
	if named && isEscaped(name) {
		return nil, false, false // the name stands for another one, which the library works out
	}
	m, of := object.Get(name), s.member(name)
	if m.IsAbsent() || named && m.IsNull() || of == nil {
		return nil, false, true
	}
	return of.val(m), true, true
}

// Item returns the item of a list at an index.
func (s *shape) Item(list value.Value, i int) ref.Val { return s.items.val(list.Item(i)) }

// member returns the schema of a member, or nil if rules do not see the member.
//
// A schema with properties hides all other members from rules.
func (s *shape) member(name string) *shape {
	switch {
	case s.properties != nil:
		p, _ := s.properties[name].(*shape)
		return p
	case s.additional != nil:
		return s.additional.schema
	}
	return nil
}

// Items returns the schema of items.
func (s *shape) Items() common.Schema { return orNil(s.items) }

// Properties returns the schemas of properties. Callers must not modify the map.
func (s *shape) Properties() map[string]common.Schema { return s.properties }

// AdditionalProperties returns the schema of all other members.
func (s *shape) AdditionalProperties() common.SchemaOrBool {
	if s.additional == nil {
		return nil
	}
	return s.additional
}

// additional implements common.SchemaOrBool for the members that a schema does not name.
type additional struct {
	schema *shape
	allows bool
}

// Schema returns the schema of those members.
func (a *additional) Schema() common.Schema { return orNil(a.schema) }

// Allows reports whether such members are allowed.
func (a *additional) Allows() bool { return a.allows }

// orNil returns s as an interface that is nil if s is nil.
//
// Without it, a nil pointer would be an interface that is not nil.
func orNil(s *shape) common.Schema {
	if s == nil {
		return nil
	}
	return s
}
