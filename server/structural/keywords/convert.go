package keywords

import (
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/deed-project/deed/value"
)

// The extensions of schemas that matter here.
const (
	intOrString = "x-kubernetes-int-or-string"
	embedded    = "x-kubernetes-embedded-resource"
	celRules    = "x-kubernetes-validations"
	listType    = "x-kubernetes-list-type"
	listMapKeys = "x-kubernetes-list-map-keys"
)

// convert returns a schema in the form of kube-openapi's validator, as kube-apiserver converts it: with two types for int-or-string, and without
// the formats that it does not check. What describes values and does not validate them is left out.
func convert(s value.Value) *spec.Schema {
	out := &spec.Schema{}
	if typ := s.Get("type").Str(); typ != "" {
		out.Type = spec.StringOrArray{typ}
	}
	if s.Get(intOrString).Bool() {
		out.Type = spec.StringOrArray{"integer", "string"}
	}
	out.Nullable = s.Get("nullable").Bool()
	out.Format = checkedFormat(out.Type, s.Get("format").Str())
	out.Maximum, out.ExclusiveMaximum = number(s.Get("maximum")), s.Get("exclusiveMaximum").Bool()
	out.Minimum, out.ExclusiveMinimum = number(s.Get("minimum")), s.Get("exclusiveMinimum").Bool()
	out.MultipleOf = number(s.Get("multipleOf"))
	out.MaxLength, out.MinLength, out.Pattern = count(s.Get("maxLength")), count(s.Get("minLength")), s.Get("pattern").Str()
	out.MaxItems, out.MinItems, out.UniqueItems = count(s.Get("maxItems")), count(s.Get("minItems")), s.Get("uniqueItems").Bool()
	out.MaxProperties, out.MinProperties = count(s.Get("maxProperties")), count(s.Get("minProperties"))
	for name := range s.Get("required").Items() {
		out.Required = append(out.Required, name.Str())
	}
	for v := range s.Get("enum").Items() {
		out.Enum = append(out.Enum, v.ToAny())
	}
	out.AllOf, out.AnyOf, out.OneOf = convertAll(s.Get("allOf")), convertAll(s.Get("anyOf")), convertAll(s.Get("oneOf"))
	if not := s.Get("not"); not.Kind() == value.KindObject {
		out.Not = convert(not)
	}
	if properties := s.Get("properties"); properties.Len() > 0 {
		out.Properties = make(map[string]spec.Schema, properties.Len())
		for name, property := range properties.Members() {
			out.Properties[name] = *convert(property)
		}
	}
	switch others := s.Get("additionalProperties"); others.Kind() {
	case value.KindBool:
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: others.Bool()}
	case value.KindObject:
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: convert(others)}
	}
	if items := s.Get("items"); items.Kind() == value.KindObject {
		out.Items = &spec.SchemaOrArray{Schema: convert(items)}
	}
	for _, name := range [...]string{embedded, listType, listMapKeys} {
		if v := s.Get(name); !v.IsAbsent() {
			out.AddExtension(name, v.ToAny())
		}
	}
	if s.Get(celRules).Len() > 0 {
		out.AddExtension(celRules, true) // that there are rules is enough
	}
	return out
}

// convertAll converts each schema of a list.
func convertAll(schemas value.Value) []spec.Schema {
	var out []spec.Schema
	for s := range schemas.Items() {
		out = append(out, *convert(s))
	}
	return out
}

// checkedFormat returns format, or "" if values of the types are not checked for it.
func checkedFormat(types spec.StringOrArray, format string) string {
	typ := ""
	if len(types) == 1 {
		typ = types[0]
	}
	checked := false
	switch typ {
	case "", "string":
		checked = strfmt.Default.ContainsName(format)
	case "integer":
		checked = format == "int32" || format == "int64"
	case "number":
		checked = format == "float" || format == "double"
	}
	if !checked {
		return ""
	}
	return format
}

// number returns a bound of numbers, or nil if there is none.
func number(v value.Value) *float64 {
	if v.Kind() != value.KindInt && v.Kind() != value.KindFloat {
		return nil
	}
	n := v.Float()
	return &n
}

// count returns a bound of lengths, or nil if there is none.
func count(v value.Value) *int64 {
	if v.Kind() != value.KindInt {
		return nil
	}
	n := v.Int()
	return &n
}
