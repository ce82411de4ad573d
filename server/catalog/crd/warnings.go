package crd

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/value"
)

// warningsOf returns the warnings of a definition as the successor of live, which is absent for a new one. It warns of unchecked formats,
// and of sets with composite items. It omits warnings that live also has. The cost grows with the schemas.
func warningsOf(object, live value.Value) []string {
	var warnings []string
	for _, find := range []func(schema value.Value) string{unknownFormat, compositeSet} {
		given := found(object, find)
		if len(given) == 0 {
			continue // skip the walk of live
		}
		before := found(live, find)
		warnings = append(warnings, slices.DeleteFunc(given, func(w string) bool { return slices.Contains(before, w) })...)
	}
	return warnings
}

// found returns the results of find for all schemas of a definition, including nested schemas, sorted and without duplicates.
func found(definition value.Value, find func(schema value.Value) string) []string {
	var all []string
	for v := range definition.Get("spec", "versions").Items() {
		eachSchema(v.Get("schema", "openAPIV3Schema"), func(schema value.Value) {
			if warning := find(schema); warning != "" {
				all = append(all, warning)
			}
		})
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// eachSchema visits a schema and its nested schemas.
//
// It visits a schema before the schemas in it. A value that is no schema, such as additionalProperties: true, is passed over.
func eachSchema(schema value.Value, visit func(value.Value)) {
	if schema.Kind() != value.KindObject {
		return
	}
	visit(schema)
	for name, part := range schema.Members() {
		switch name {
		case "not", "additionalProperties":
			eachSchema(part, visit)
		case "items", "allOf", "anyOf", "oneOf":
			eachSchema(part, visit)
			for item := range part.Items() {
				eachSchema(item, visit)
			}
		case "properties":
			for _, property := range part.Members() {
				eachSchema(property, visit)
			}
		}
	}
}

// unknownFormat returns a warning if the format is not checked.
func unknownFormat(schema value.Value) string {
	format := schema.Get("format").Str()
	if format == "" {
		return ""
	}
	asked := &spec.Schema{SchemaProps: spec.SchemaProps{Format: format, Type: []string{schema.Get("type").Str()}}}
	if len(validation.GetUnrecognizedFormats(asked, environment.DefaultCompatibilityVersion())) == 0 {
		return ""
	}
	return fmt.Sprintf("unrecognized format %q", format)
}

// compositeSet returns a warning if the schema is a set of objects or lists.
// Sets are compared by items as a whole, so changing one member of an item makes it another item.
func compositeSet(schema value.Value) string {
	if schema.Get("x-kubernetes-list-type").Str() != "set" {
		return ""
	}
	switch item := schema.Get("items", "type").Str(); item {
	case "object", "array":
		return fmt.Sprintf("x-kubernetes-list-type: set for items of type %q is not supported by server-side apply or CEL validation rules", item)
	}
	return ""
}
