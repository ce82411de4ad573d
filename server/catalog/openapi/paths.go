package openapi

import (
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// operation is a method of a path.
type operation struct {
	method, action, verb string
	options              any         // the query parameters are the fields of this struct
	body, answer         value.Value // schemas; absent if there is none
	codes                []string
}

// addPaths adds the paths of a version: its collections, its objects, and their subresources.
func (d *document) addPaths(v *catalog.Version, object, list value.Value) {
	root := "/apis/" + v.Group + "/" + v.Name + "/"
	if v.Group == "" {
		root = "/api/" + v.Name + "/"
	}
	status := d.ref(reflect.TypeFor[metav1.Status]())
	deleteOptions := d.ref(reflect.TypeFor[metav1.DeleteOptions]())
	patch := d.patch()
	listing := operation{"get", "list", "list", metav1.ListOptions{}, value.Value{}, list, []string{"200"}}
	if v.Namespaced {
		d.addPath(v, root+v.Plural, "", "ForAllNamespaces", listing)
		root += "namespaces/{namespace}/"
	}
	collection := root + v.Plural
	one := collection + "/{name}"
	d.addPath(v, collection, "", "", listing,
		operation{"post", "post", "create", metav1.CreateOptions{}, object, object, []string{"200", "201", "202"}},
		operation{"delete", "deletecollection", "deletecollection", metav1.ListOptions{}, deleteOptions, status, []string{"200"}})
	d.addPath(v, one, "", "",
		operation{"get", "get", "read", metav1.GetOptions{}, value.Value{}, object, []string{"200"}},
		operation{"put", "put", "replace", metav1.UpdateOptions{}, object, object, []string{"200", "201"}},
		operation{"delete", "delete", "delete", metav1.DeleteOptions{}, deleteOptions, status, []string{"200", "202"}},
		operation{"patch", "patch", "patch", metav1.PatchOptions{}, patch, object, []string{"200", "201"}})
	if v.Status != nil {
		d.addSubresource(v, one, "status", object, patch)
	}
	if v.Scale != nil {
		d.addSubresource(v, one, "scale", d.scaleRef(), patch)
	}
	for name := range v.Parts {
		d.addSubresource(v, one, name, object, patch)
	}
	for name, kind := range v.Actions {
		if kind.Connection != nil {
			continue // omitted, because readers of the document cannot use connections
		}
		sent := d.ref(reflect.TypeOf(kind.New()).Elem())
		d.addPath(v, one+"/"+name, name, "",
			operation{"post", "post", "create", metav1.CreateOptions{}, sent, sent, []string{"200", "201", "202"}})
	}
}

func (d *document) addSubresource(v *catalog.Version, one, name string, object, patch value.Value) {
	d.addPath(v, one+"/"+name, name, "",
		operation{"get", "get", "read", metav1.GetOptions{}, value.Value{}, object, []string{"200"}},
		operation{"put", "put", "replace", metav1.UpdateOptions{}, object, object, []string{"200", "201"}},
		operation{"patch", "patch", "patch", metav1.PatchOptions{}, patch, object, []string{"200", "201"}})
}

// patch returns a reference to the schema of patches, which is any object.
func (d *document) patch() value.Value {
	name := typeName(reflect.TypeFor[metav1.Patch]())
	d.components[name] = object("type", value.String("object"),
		"description", value.String("Patch is provided to give a concrete name and type to the Kubernetes PATCH request body."))
	return reference(name)
}

// addPath adds a path with its operations. suffix is the end of their names.
func (d *document) addPath(v *catalog.Version, path, subresource, suffix string, operations ...operation) {
	item := object("parameters", pathParameters(v, path))
	for _, o := range operations {
		if !v.Has(verbOf(o)) && subresource == "" {
			continue
		}
		item = item.With(o.method, d.operation(v, o, path, subresource, suffix))
	}
	d.paths[path] = item
}

// verbOf returns the discovery verb of an operation.
func verbOf(o operation) string {
	switch o.verb {
	case "read":
		return "get"
	case "replace":
		return "update"
	}
	return o.verb
}

func pathParameters(v *catalog.Version, path string) value.Value {
	var out []value.Value
	parameter := func(name, in, description, typ string) {
		p := object("description", value.String(description), "in", value.String(in), "name", value.String(name),
			"schema", object("type", value.String(typ), "uniqueItems", value.Bool(true)))
		if in == "path" {
			p = p.With("required", value.Bool(true))
		}
		out = append(out, p)
	}
	if strings.Contains(path, "{name}") {
		parameter("name", "path", "name of the "+v.Kind, "string")
	}
	if strings.Contains(path, "{namespace}") {
		parameter("namespace", "path", "object name and auth scope, such as for teams and projects", "string")
	}
	parameter("pretty", "query", "If 'true', then the output is pretty printed. Defaults to 'false' unless the user-agent "+
		"indicates a browser or command-line HTTP tool (curl and wget).", "string")
	return value.List(out...)
}

// operation returns the description of an operation.
func (d *document) operation(v *catalog.Version, o operation, path, subresource, suffix string) value.Value {
	scope := ""
	if strings.Contains(path, "{namespace}") {
		scope = "Namespaced"
	}
	tag := groupWord(v.Group) + "_" + v.Name
	verb := o.verb
	if verb == "deletecollection" {
		verb, scope = "delete", "Collection"+scope
	}
	id := verb + upper(groupWord(v.Group)) + upper(v.Name) + scope + v.Kind + upper(subresource) + suffix
	responses := object("401", object("description", value.String("Unauthorized")))
	for _, code := range o.codes {
		responses = responses.With(code, object("description", value.String(codeTexts[code]), "content",
			content(o.answer, answerTypes(v)...)))
	}
	out := object(
		"description", value.String(o.verb+" "+subresource+" "+v.Kind), "operationId", value.String(id),
		"parameters", queryParameters(o.options), "responses", responses, "tags", texts(tag),
		"x-kubernetes-action", value.String(o.action), gvkExtension, gvk(v.Group, v.Name, v.Kind),
	)
	switch {
	case o.body.IsAbsent():
	case o.method == "patch":
		types := []string{"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"}
		if !v.Custom {
			types = append(types, "application/strategic-merge-patch+json")
		}
		out = out.With("requestBody", object("required", value.Bool(true), "content", content(o.body, types...)))
	default:
		out = out.With("requestBody", object("required", value.Bool(o.method != "delete"), "content",
			content(o.body, "application/json", "application/yaml")))
	}
	return out
}

// answerTypes returns the media types of responses with objects of a version.
func answerTypes(v *catalog.Version) []string {
	if v.Custom {
		return []string{"application/json", "application/yaml"}
	}
	return []string{"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"}
}

var codeTexts = map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}

func content(schema value.Value, types ...string) value.Value {
	out := value.Object()
	for _, typ := range types {
		out = out.With(typ, object("schema", schema))
	}
	return out
}

// groupWord returns a group in the form of operation names: stableExampleOrg for stable.example.org.
func groupWord(group string) string {
	if group == "" {
		return "core"
	}
	words := strings.Split(strings.TrimSuffix(group, ".k8s.io"), ".")
	for i, w := range words[1:] {
		words[i+1] = upper(w)
	}
	return strings.Join(words, "")
}

func upper(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// queryParameters returns the query parameters for a struct of options.
func queryParameters(options any) value.Value {
	doc := docOf(reflect.TypeOf(options))
	fields, _ := components{}.properties(reflect.TypeOf(options), doc)
	var out []value.Value
	for _, f := range fields {
		if f.Name == "apiVersion" || f.Name == "kind" || f.Name == "preconditions" {
			continue
		}
		schema := f.Value.With("description", value.Value{}).With("uniqueItems", value.Bool(true))
		out = append(out, object("description", value.String(doc.of(f.Name)), "in", value.String("query"),
			"name", value.String(f.Name), "schema", schema))
	}
	return value.List(out...)
}
