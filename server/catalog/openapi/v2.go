package openapi

import (
	"encoding/base64"
	"encoding/json"
	"hash/fnv"
	"maps"
	"strings"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// V2 returns the OpenAPI v2 document of the catalog of a server.
//
// The cost grows with the number of resources and the size of their schemas.
func V2(c *catalog.Catalog, of Server) value.Value {
	d := whole(c)
	d.addForms(of)
	definitions, paths := map[string]value.Value{}, map[string]value.Value{}
	for name, schema := range d.schemas {
		definitions[name] = downgraded(schema)
	}
	shared := sharedParameters{}
	for path, operations := range d.paths {
		paths[path] = shared.pathItem(path, operations)
	}
	return object(
		"swagger", value.String("2.0"), "info", info(false, of.Release), "paths", members(paths), "definitions", members(definitions),
		"parameters", members(shared), "securityDefinitions", securitySchemes, "security", value.List(object("BearerToken", value.List())),
	)
}

// whole returns the paths and schemas of all resources. Built-in kinds win a path that a custom resource has, too.
func whole(c *catalog.Catalog) *document {
	d := newDocument()
	for _, path := range Paths(c) {
		if part := at(c, path); !part.custom {
			maps.Copy(d.paths, part.paths)
		}
	}
	for r := range c.All() {
		if !r.Custom {
			continue
		}
		own := paths{}
		for _, v := range r.Versions {
			own.addCustom(v)
			maps.Copy(d.customSchemas, customSchemas(v, true))
		}
		maps.DeleteFunc(own, func(path string, _ []operation) bool { return d.paths[path] != nil })
		maps.Copy(d.paths, own)
	}
	d.collect()
	return d
}

// downgraded returns a schema of v3 in v2: without defaults, which clients would take for values, and with references that have other
// members.
func downgraded(schema value.Value) value.Value {
	schema = schema.With("default", value.Value{})
	if all := schema.Get("allOf"); all.Len() == 1 && !all.Item(0).Get("$ref").IsAbsent() {
		schema = schema.With("$ref", all.Item(0).Get("$ref")).With("allOf", value.Value{})
	}
	if ref := schema.Get("$ref"); !ref.IsAbsent() {
		schema = schema.With("$ref", value.String(definitionPrefix+strings.TrimPrefix(ref.Str(), refPrefix)))
	}
	if !schema.Get("oneOf").IsAbsent() { // a quantity, or a number or text
		schema = schema.With("oneOf", value.Value{}).With("type", value.String("string"))
	}
	return children(schema, downgraded)
}

const definitionPrefix = "#/definitions/"

// sharedParameters holds the parameters that paths refer to, by name. They are all but those whose description names a kind, and those in
// which old versions of kubectl look for features.
type sharedParameters map[string]value.Value

// pathItem returns the operations of a path. The parameters that all of them have stand beside them.
func (s sharedParameters) pathItem(path string, operations []operation) value.Value {
	common := common(operations)
	item := object("parameters", s.list(common))
	for _, o := range operations {
		item = item.With(o.method, s.operation(o, path, common))
	}
	return item
}

func (s sharedParameters) operation(o operation, path string, common []parameter) value.Value {
	responses := object("401", object("description", value.String("Unauthorized")))
	for _, a := range o.answers {
		schema := object("type", value.String("string"))
		if a.schema != "" {
			schema = object("$ref", value.String(definitionPrefix+a.schema))
		}
		responses = responses.With(a.code, object("description", value.String(a.text), "schema", schema))
	}
	parameters := o.own(common)
	if o.body != "" {
		parameters = inOrder(append(parameters, parameter{name: "body", in: "body", schema: o.body, optional: o.optional}))
	}
	return o.extensions(object(
		"description", value.String(o.description), "operationId", value.String(o.id(path)), "tags", texts(tag(path)),
		"consumes", texts(o.consumes...), "produces", texts(o.produces...), "schemes", texts("https"),
		"parameters", s.list(parameters), "responses", responses,
	))
}

// swaggerParameter is a parameter in v2. The order of its members decides the name under which it is shared.
type swaggerParameter struct {
	UniqueItems bool              `json:"uniqueItems,omitempty"`
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Name        string            `json:"name"`
	In          string            `json:"in"`
	Required    bool              `json:"required,omitempty"`
	Schema      map[string]string `json:"schema,omitempty"`
}

// list returns parameters as a list, absent if there are none. It shares those that can be shared.
func (s sharedParameters) list(parameters []parameter) value.Value {
	if len(parameters) == 0 {
		return value.Value{}
	}
	var out []value.Value
	for _, p := range parameters {
		said := swaggerParameter{
			UniqueItems: p.in != "body", Type: p.typ, Description: p.description, Name: p.name, In: p.in,
			Required: p.in == "path" || p.in == "body" && !p.optional,
		}
		if p.schema != "" {
			said.Schema = map[string]string{"$ref": definitionPrefix + p.schema}
		}
		text, err := json.Marshal(said)
		if err != nil {
			panic(err) // strings can always be encoded
		}
		parsed, err := value.Parse(text)
		if err != nil {
			panic(err) // as above
		}
		if !p.alone() {
			name := p.name + "-" + shortHash(text)
			s[name] = parsed
			parsed = object("$ref", value.String("#/parameters/"+name))
		}
		out = append(out, parsed)
	}
	return value.List(out...)
}

// alone reports whether a parameter is not shared.
func (p parameter) alone() bool {
	switch p.name {
	case "name", "fieldValidation", "dryRun":
		return true
	}
	return p.in == "body" && !strings.HasPrefix(p.schema, "io.k8s.apimachinery")
}

// shortHash returns six bytes of the hash of text, in base64.
func shortHash(text []byte) string {
	h := fnv.New64()
	h.Write(text)
	return base64.URLEncoding.EncodeToString(h.Sum(nil)[:6])
}
