package openapi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// V2 returns the OpenAPI v2 document of a catalog. It contains the content of [V3] for all versions, as far as Swagger 2 can express it.
// release is the version of the server.
//
// The cost grows with the number of resources and the size of their schemas.
func V2(c *catalog.Catalog, release version.Info) value.Value {
	d := document{components: components{}, paths: map[string]value.Value{}}
	for resource := range c.All() {
		for _, v := range resource.Versions {
			d.add(v)
		}
	}
	definitions := map[string]value.Value{}
	for name, schema := range d.components {
		definitions[name] = swagger(schema)
	}
	paths := map[string]value.Value{}
	for path, item := range d.paths {
		paths[path] = swaggerPath(item)
	}
	token := object("description", value.String("Bearer Token authentication"), "in", value.String("header"),
		"name", value.String("authorization"), "type", value.String("apiKey"))
	return object(
		"swagger", value.String("2.0"),
		"info", object("title", value.String("Kubernetes"), "version", value.String(release.Major+"."+release.Minor)),
		"paths", members(paths), "definitions", members(definitions),
		"securityDefinitions", object("BearerToken", token), "security", value.List(object("BearerToken", value.List())),
	)
}

// swagger returns a schema in Swagger 2, by the rules of kube-apiserver.
//
//	reference with a description  not wrapped, because kube-openapi allows siblings of a reference
//	default                       dropped, because clients would take it for a value
//	allOf, anyOf, oneOf, not      dropped
//	nullable                      any type, and not required
//	preserved unknown fields      any type
func swagger(schema value.Value) value.Value {
	if schema.Kind() != value.KindObject {
		return schema
	}
	out := unwrapped(schema)
	for _, name := range []string{"default", "allOf", "anyOf", "oneOf", "not", "nullable"} {
		out = out.With(name, value.Value{})
	}
	keeps := schema.Get("x-kubernetes-preserve-unknown-fields").Bool()
	if schema.Get("nullable").Bool() || keeps {
		for _, name := range []string{"type", "items", "properties"} {
			out = out.With(name, value.Value{})
		}
	}
	if keeps && schema.Get("x-kubernetes-embedded-resource").Bool() {
		out = out.With("required", value.Value{}) // an untyped schema cannot state the fields of every object
	}
	for _, name := range []string{"items", "additionalProperties"} {
		out = out.With(name, swagger(out.Get(name)))
	}
	if out.Get("type").Str() == "array" && out.Get("items").IsAbsent() {
		out = out.With("type", value.Value{})
	}
	if schema.Get("additionalProperties", "nullable").Bool() {
		out = out.With("required", value.Value{})
	}
	return swaggerProperties(out, schema.Get("properties"))
}

// unwrapped returns a schema without the allOf around a reference. It changes references to the place of definitions in Swagger 2.
func unwrapped(schema value.Value) value.Value {
	if all := schema.Get("allOf"); all.Len() == 1 && !all.Item(0).Get("$ref").IsAbsent() {
		schema = schema.With("$ref", all.Item(0).Get("$ref")).With("allOf", value.Value{})
	}
	if ref := schema.Get("$ref"); !ref.IsAbsent() {
		name := strings.TrimPrefix(ref.Str(), "#/components/schemas/")
		schema = schema.With("$ref", value.String("#/definitions/"+name))
	}
	return schema
}

// swaggerProperties returns out with its properties in Swagger 2. Nullable properties are no longer required. properties are the original
// ones.
func swaggerProperties(out, properties value.Value) value.Value {
	if out.Get("properties").Kind() != value.KindObject {
		return out
	}
	said := make([]value.Member, 0, properties.Len())
	for name, property := range properties.Members() {
		said = append(said, value.Member{Name: name, Value: swagger(property)})
	}
	out = out.With("properties", value.Object(said...))
	required := slices.DeleteFunc(slices.Collect(out.Get("required").Items()), func(name value.Value) bool {
		return properties.Get(name.Str(), "nullable").Bool()
	})
	if len(required) == 0 {
		return out.With("required", value.Value{})
	}
	return out.With("required", value.List(required...))
}

// swaggerPath returns a path item in Swagger 2.
func swaggerPath(item value.Value) value.Value {
	out := value.Object()
	for name, part := range item.Members() {
		if name == "parameters" {
			out = out.With(name, swaggerParameters(part))
			continue
		}
		out = out.With(name, swaggerOperation(part))
	}
	return out
}

// swaggerParameters returns parameters with the members of their schemas inlined.
func swaggerParameters(parameters value.Value) value.Value {
	out := make([]value.Value, 0, parameters.Len())
	for p := range parameters.Items() {
		schema := p.Get("schema")
		p = p.With("schema", value.Value{})
		for name, v := range schema.Members() {
			p = p.With(name, v)
		}
		out = append(out, p)
	}
	return value.List(out...)
}

// swaggerOperation returns an operation whose body is a parameter, and which lists its media types once.
func swaggerOperation(operation value.Value) value.Value {
	parameters := slices.Collect(swaggerParameters(operation.Get("parameters")).Items())
	consumes := value.List(value.String("*/*"))
	if body := operation.Get("requestBody"); !body.IsAbsent() {
		types, schema := contents(body.Get("content"))
		if operation.Get("x-kubernetes-action").Str() == "patch" {
			consumes = types
		}
		parameters = slices.Insert(parameters, 0, object("in", value.String("body"), "name", value.String("body"),
			"required", body.Get("required"), "schema", schema))
	}
	produces, responses := value.Value{}, value.Object()
	for code, response := range operation.Get("responses").Members() {
		if content := response.Get("content"); !content.IsAbsent() {
			types, schema := contents(content)
			produces, response = types, response.With("content", value.Value{}).With("schema", schema)
		}
		responses = responses.With(code, response)
	}
	return operation.With("requestBody", value.Value{}).With("parameters", value.List(parameters...)).
		With("consumes", consumes).With("produces", produces).With("responses", responses).
		With("schemes", texts("https"))
}

// contents returns the media types of a body, and the schema that they share.
func contents(content value.Value) (types, schema value.Value) {
	var names []value.Value
	for name, c := range content.Members() {
		names = append(names, value.String(name))
		schema = swagger(c.Get("schema"))
	}
	return value.List(names...), schema
}
