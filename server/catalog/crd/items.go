package crd

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/deed-project/deed/value"
)

// Items of schemas that are neither a schema nor a list of schemas. kube-apiserver reads a text or a number as items of nothing: its
// validation shows them, and it stores none.

// WithEmpties returns object with the empty lists and maps of sent, and with such items as it has.
func (f *definitionForm) WithEmpties(object, sent, live value.Value, subresource string) value.Value {
	object = f.Form.WithEmpties(object, sent, live, subresource)
	if subresource != "" {
		return object
	}
	return object.With("spec", itemsAsSent(object.Get("spec"), sent.Get("spec")))
}

// itemsAsSent returns v with the members called items that it lost when it was read from sent.
func itemsAsSent(v, sent value.Value) value.Value {
	switch {
	case sent.Kind() == value.KindObject && v.Kind() == value.KindObject:
		for name, was := range sent.Members() {
			is := v.Get(name)
			if name == "items" && (is.IsAbsent() || is.IsNull()) && was.Kind() != value.KindObject {
				v = v.With(name, was)
			} else if full := itemsAsSent(is, was); !full.Same(is) {
				v = v.With(name, full)
			}
		}
	case sent.Kind() == value.KindList && v.Kind() == value.KindList && sent.Len() == v.Len():
		items := slices.Collect(v.Items())
		for i := range items {
			items[i] = itemsAsSent(items[i], sent.Item(i))
		}
		return value.List(items...)
	}
	return v
}

// dropNoItems removes such items from a schema, and from the schemas in it.
func dropNoItems(s *apiextensionsv1.JSONSchemaProps) {
	if s == nil {
		return
	}
	if items := s.Items; items != nil {
		dropNoItems(items.Schema)
		for i := range items.JSONSchemas {
			dropNoItems(&items.JSONSchemas[i])
		}
		if items.Schema == nil && len(items.JSONSchemas) == 0 {
			s.Items = nil
		}
	}
	for _, list := range [...][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			dropNoItems(&list[i])
		}
	}
	for _, named := range [...]map[string]apiextensionsv1.JSONSchemaProps{s.Properties, s.PatternProperties, s.Definitions} {
		for name, of := range named {
			dropNoItems(&of)
			named[name] = of
		}
	}
	dropNoItems(s.Not)
	for _, or := range [...]*apiextensionsv1.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if or != nil {
			dropNoItems(or.Schema)
		}
	}
	for _, or := range s.Dependencies {
		dropNoItems(or.Schema)
	}
}
