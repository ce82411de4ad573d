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

	"github.com/deed-project/deed/value"
)

// self is the one variable that rules have: interpreter.Activation.
type self struct{ value ref.Val }

// ResolveName returns the value of the variable.
func (s self) ResolveName(name string) (any, bool) { return s.value, name == cel.ScopedVarName }

// Parent returns nil.
func (self) Parent() interpreter.Activation { return nil }

// shape is a schema whose parts are made once: common.Schema.
type shape struct {
	common.Schema
	form       form
	items      *shape
	properties map[string]common.Schema // each is a *shape
	additional *additional
}

// form is what rules see of a value, as far as it is of the type that its schema says.
type form uint8

const (
	asLibrary form = iota // what the library makes of it
	asObject
	asList
	asText
	asInteger
	asNumber
	asBoolean
	asTextOrInteger
)

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

// val returns v as rules see it. It costs nothing to speak of, unless the library has to convert it.
func (s *shape) val(v value.Value) ref.Val {
	switch kind := v.Kind(); {
	case kind == value.KindObject && s.form == asObject:
		return &object{part{v: v, shape: s}}
	case kind == value.KindList && s.form == asList:
		return &list{part{v: v, shape: s}}
	case kind == value.KindString && (s.form == asText || s.form == asTextOrInteger):
		return types.String(v.Str())
	case kind == value.KindInt && (s.form == asInteger || s.form == asTextOrInteger):
		return types.Int(v.Int())
	case (kind == value.KindInt || kind == value.KindFloat) && s.form == asNumber:
		return types.Double(v.Float())
	case kind == value.KindBool && s.form == asBoolean:
		return types.Bool(v.Bool())
	}
	return common.UnstructuredToVal(v.ToAny(), s)
}

// member returns the schema of the member called name, nil if rules do not see it.
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

// Properties returns the schemas of properties, which nobody may modify.
func (s *shape) Properties() map[string]common.Schema { return s.properties }

// AdditionalProperties returns the schema of other members.
func (s *shape) AdditionalProperties() common.SchemaOrBool {
	if s.additional == nil {
		return nil
	}
	return s.additional
}

// additional is what a schema says of members that it does not name: common.SchemaOrBool.
type additional struct {
	schema *shape
	allows bool
}

// Schema returns their schema.
func (a *additional) Schema() common.Schema { return orNil(a.schema) }

// Allows reports whether there may be any.
func (a *additional) Allows() bool { return a.allows }

// orNil returns s, nil if it is none.
func orNil(s *shape) common.Schema {
	if s == nil {
		return nil
	}
	return s
}
