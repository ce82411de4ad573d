package openapi

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// This file has the schemas of custom resources. Their references are those of v3.

// customSchemas returns the schemas of a custom resource and of its list, by name. v2 says that the document is one of OpenAPI v2.
func customSchemas(v *catalog.Version, v2 bool) map[string]value.Value {
	name, list := customName(v, v.Kind), customName(v, v.ListKind)
	out := map[string]value.Value{list: listSchema(v), name: customSchema(v.Schema, v2)}
	for name, kind := range map[string]string{name: v.Kind, list: v.ListKind} {
		out[name] = out[name].With(gvkExtension, value.List(gvk(schema.GVK{Group: v.Group, Version: v.Name, Kind: kind}))).
			With("x-kubernetes-selectable-fields", selectable(v))
	}
	return out
}

var (
	typeDoc     = metav1.TypeMeta{}.SwaggerDoc()
	metadataDoc = metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]
	listDoc     = metav1.PartialObjectMetadataList{}.SwaggerDoc()["metadata"]
)

const conventions = "More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

// customSchema returns the schema of a definition with apiVersion, kind and metadata. A schema that preserves unknown fields has no
// properties in v2, because clients of v2 would refuse all others.
func customSchema(said value.Value, v2 bool) value.Value {
	switch {
	case said.Kind() != value.KindObject, v2 && said.Get("x-kubernetes-preserve-unknown-fields").Bool():
		return object("type", value.String("object"))
	case v2:
		said = embedded(simplified(said), v2)
	default:
		said = embedded(unfolded(said), v2)
	}
	return withTypeMeta(said, typeDoc["apiVersion"], typeDoc["kind"])
}

// withTypeMeta returns a schema with the properties apiVersion, kind and metadata.
func withTypeMeta(said value.Value, apiVersion, kind string) value.Value {
	properties := said.Get("properties")
	if properties.IsAbsent() {
		properties = value.Object()
	}
	return said.With("properties", properties.With("apiVersion", textSchema(apiVersion)).With("kind", textSchema(kind)).
		With("metadata", describedReference(metaPrefix+"ObjectMeta", metadataDoc)))
}

func textSchema(description string) value.Value {
	return object("type", value.String("string"), "description", value.String(description))
}

// describedReference returns a reference with a description. In v3 a reference has no other members, so that it stands in allOf.
func describedReference(name, description string) value.Value {
	return object("allOf", value.List(reference(name)), "description", value.String(description))
}

// listSchema returns the schema of the lists of a custom resource.
func listSchema(v *catalog.Version) value.Value {
	items := object("type", value.String("array"), "items", reference(customName(v, v.Kind)),
		"description", value.String("List of "+v.Plural+". "+conventions))
	return object(
		"type", value.String("object"), "required", texts("items"), "description", value.String(v.ListKind+" is a list of "+v.Kind),
		"properties", object("apiVersion", textSchema(typeDoc["apiVersion"]), "items", items, "kind", textSchema(typeDoc["kind"]),
			"metadata", describedReference(metaPrefix+"ListMeta", listDoc)),
	)
}

// selectable returns the fields that field selectors of a custom resource may use, absent if there are none.
func selectable(v *catalog.Version) value.Value {
	var out []value.Value
	for _, path := range v.Fields {
		out = append(out, object("fieldPath", value.String(path)))
	}
	if len(out) == 0 {
		return value.Value{}
	}
	return value.List(out...)
}

// children returns a schema with edit applied to the schemas of its items, of its properties and of its additional properties.
func children(said value.Value, edit func(value.Value) value.Value) value.Value {
	for _, name := range []string{"items", "additionalProperties"} {
		if child := said.Get(name); child.Kind() == value.KindObject {
			said = said.With(name, edit(child))
		}
	}
	properties := said.Get("properties")
	if properties.IsAbsent() {
		return said
	}
	edited := make([]value.Member, 0, properties.Len())
	for name, property := range properties.Members() {
		edited = append(edited, value.Member{Name: name, Value: edit(property)})
	}
	return said.With("properties", value.Object(edited...))
}

// flags are the members of schemas that are absent rather than false.
var flags = []string{"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "nullable"}

// unfolded returns a schema in which each x-kubernetes-int-or-string has the alternatives that it stands for.
func unfolded(said value.Value) value.Value {
	said = children(withoutFalse(said), unfolded)
	if !said.Get("x-kubernetes-int-or-string").Bool() {
		return said
	}
	either := value.List(object("type", value.String("integer")), object("type", value.String("string")))
	switch {
	case said.Get("anyOf").Equal(either), said.Get("allOf").Len() > 0 && said.Get("allOf").Item(0).Get("anyOf").Equal(either):
		return said
	case said.Get("anyOf").IsAbsent():
		return said.With("anyOf", either)
	}
	all := append([]value.Value{object("anyOf", either)}, slices.Collect(said.Get("allOf").Items())...)
	return said.With("allOf", value.List(all...))
}

func withoutFalse(said value.Value) value.Value {
	for _, name := range flags {
		if v := said.Get(name); !v.IsAbsent() && !v.Bool() {
			said = said.With(name, value.Value{})
		}
	}
	return said
}

// simplified returns a schema in the subset of v2 that kubectl understands, by the rules of kube-apiserver.
//
//	allOf, anyOf, oneOf, not  dropped
//	nullable                  any type, and not required
//	preserved unknown fields  no properties and no items, and any type if it was an object
//	a list without items      any type
func simplified(said value.Value) value.Value {
	out := withoutFalse(said)
	drop := func(names ...string) {
		for _, name := range names {
			out = out.With(name, value.Value{})
		}
	}
	drop("allOf", "anyOf", "oneOf", "not")
	if said.Get("nullable").Bool() {
		drop("type", "nullable", "items", "properties")
	}
	keeps := said.Get("x-kubernetes-preserve-unknown-fields").Bool()
	if keeps {
		drop("items", "properties")
	}
	if typ := out.Get("type").Str(); typ == "object" && keeps || typ == "array" && out.Get("items").IsAbsent() {
		drop("type")
	}
	if properties := out.Get("properties"); !properties.IsAbsent() {
		required := slices.DeleteFunc(slices.Collect(out.Get("required").Items()), func(name value.Value) bool {
			return properties.Get(name.Str(), "nullable").Bool()
		})
		drop("required")
		if len(required) > 0 {
			out = out.With("required", value.List(required...))
		}
	}
	if said.Get("additionalProperties", "nullable").Bool() {
		drop("required")
	}
	return children(out, simplified)
}

// embedded returns a schema whose embedded resources have apiVersion, kind and metadata. In v2 those that preserve unknown fields have not.
func embedded(said value.Value, v2 bool) value.Value {
	said = children(said, func(child value.Value) value.Value { return embedded(child, v2) })
	if !said.Get("x-kubernetes-embedded-resource").Bool() || v2 && said.Get("x-kubernetes-preserve-unknown-fields").Bool() {
		return said
	}
	required := slices.Collect(said.Get("required").Items())
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.ContainsFunc(required, value.String(name).Equal) {
			required = append(required, value.String(name))
		}
	}
	return withTypeMeta(said.With("required", value.List(required...)),
		"apiVersion defines the versioned schema of this representation of an object. "+conventions+"#resources",
		"kind is a string value representing the type of this object. In CamelCase. "+conventions+"#types-kinds")
}
