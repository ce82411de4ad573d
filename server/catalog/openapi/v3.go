package openapi

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// V3 returns the OpenAPI v3 document at one of [Paths] of the catalog of a server.
//
// The cost grows with the number of the resources of a group version and the size of their schemas.
func V3(c *catalog.Catalog, path string, of Server) value.Value {
	d := at(c, path)
	d.addForms(of)
	groupVersion := strings.TrimPrefix(path, "apis/")
	d.schemas.keepKinds(func(g, v string) bool {
		if d.custom {
			return !slices.Contains(unknownToCustom, g)
		}
		return g == "" || g+"/"+v == groupVersion
	})
	paths := map[string]value.Value{}
	for path, operations := range d.paths {
		paths[path] = pathItem(path, operations)
	}
	components := object("schemas", members(d.schemas))
	if !d.custom {
		components = components.With("securitySchemes", securitySchemes)
	}
	return object("openapi", value.String("3.0.0"), "info", info(d.custom, of.Release), "paths", members(paths), "components", components)
}

// unknownToCustom lists the groups that the documents of custom resources do not mention.
var unknownToCustom = []string{"admission.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "imagepolicy.k8s.io"}

// info returns the title and the version of a document.
func info(custom bool, release version.Info) value.Value {
	title, number := "Kubernetes", release.EmulationMajor+"."+release.EmulationMinor
	if custom {
		title, number = "Kubernetes CRD Swagger", "v0.1.0"
	}
	return object("title", value.String(title), "version", value.String(number))
}

var securitySchemes = object("BearerToken", object("description", value.String("Bearer Token authentication"),
	"in", value.String("header"), "name", value.String("authorization"), "type", value.String("apiKey")))

// pathItem returns the operations of a path. The parameters that all of them have stand beside them.
func pathItem(path string, operations []operation) value.Value {
	shared := common(operations)
	item := object("parameters", parameterList(shared))
	for _, o := range operations {
		item = item.With(o.method, o.item(path, shared))
	}
	return item
}

// parameterList returns parameters as a list, absent if there are none.
func parameterList(parameters []parameter) value.Value {
	if len(parameters) == 0 {
		return value.Value{}
	}
	var out []value.Value
	for _, p := range parameters {
		required := value.Value{}
		if p.in == "path" {
			required = value.Bool(true)
		}
		out = append(out, object("description", text(p.description), "in", value.String(p.in), "name", value.String(p.name),
			"required", required, "schema", object("type", value.String(p.typ), "uniqueItems", value.Bool(true))))
	}
	return value.List(out...)
}

func (o operation) item(path string, shared []parameter) value.Value {
	responses := object("401", object("description", value.String("Unauthorized")))
	for _, a := range o.answers {
		schema := object("type", value.String("string"))
		if a.schema != "" {
			schema = reference(a.schema)
		}
		responses = responses.With(a.code, object("description", value.String(a.text), "content", content(schema, o.produces)))
	}
	body := value.Value{}
	if o.body != "" {
		body = object("content", content(reference(o.body), o.consumes))
		if !o.optional {
			body = body.With("required", value.Bool(true))
		}
	}
	return o.extensions(object(
		"description", value.String(o.description), "operationId", value.String(o.id(path)), "tags", texts(tag(path)),
		"parameters", parameterList(o.own(shared)), "requestBody", body, "responses", responses,
	))
}

func content(schema value.Value, types []string) value.Value {
	out := value.Object()
	for _, typ := range types {
		out = out.With(typ, object("schema", schema))
	}
	return out
}
