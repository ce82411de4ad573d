package openapi

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// operation is a method of a path, apart from the version of OpenAPI.
type operation struct {
	method, description string
	verb, noun          string // the operation's name: verb, group version, noun
	action              string // empty for operations that concern no kind
	kind                schema.GVK
	parameters          []parameter // without the body

	body               string // the name of a schema; empty for none
	optional           bool   // the body
	consumes, produces []string
	answers            []answer
}

// answer is a response: a status code, its text, and the name of a schema. A response without the name of a schema is a string.
type answer struct{ code, text, schema string }

func ok(schema string) answer       { return answer{"200", "OK", schema} }
func created(schema string) answer  { return answer{"201", "Created", schema} }
func accepted(schema string) answer { return answer{"202", "Accepted", schema} }

// paths holds the operations of a document, by path.
type paths map[string][]operation

func (p paths) add(path string, operations ...operation) { p[path] = append(p[path], operations...) }

// schemas returns the names of the schemas that operations refer to.
func (p paths) schemas() []string {
	var out []string
	for _, operations := range p {
		for _, o := range operations {
			out = append(out, o.body)
			for _, a := range o.answers {
				out = append(out, a.schema)
			}
		}
	}
	return out
}

// parameter is a parameter of an operation. Those in paths are required.
type parameter struct {
	name, in, description, typ string

	// Of the body, which is a parameter in v2.
	schema   string // its name
	optional bool
}

var pretty = parameter{
	name: "pretty", in: "query", typ: "string", description: "If 'true', then the output is pretty printed. Defaults to 'false' unless the " +
		"user-agent indicates a browser or command-line HTTP tool (curl and wget).",
}

func inPath(name, description string) parameter {
	return parameter{name: name, in: "path", description: description, typ: "string"}
}

// documented is implemented by Go types with descriptions of their fields.
type documented interface{ SwaggerDoc() map[string]string }

// queryOf returns the query parameters for a struct of options: its fields that are no structs, without those called except.
func queryOf(options any, except ...string) []parameter {
	var out []parameter
	t, doc := reflect.TypeOf(options), options.(documented).SwaggerDoc()
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ := queryType(f.Type)
		if name == "" || typ == "" || slices.Contains(except, name) {
			continue
		}
		out = append(out, parameter{name: name, in: "query", description: doc[name], typ: typ})
	}
	return out
}

// queryType returns the type of a parameter for a field of type t, "" if there is none. Lists have the type of their items.
func queryType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.Int32, reflect.Int64:
		return "integer"
	case reflect.String:
		return "string"
	case reflect.Struct:
		if t.Name() == "Time" {
			return "string"
		}
	}
	return ""
}

// id returns the name of an operation at path: listAppsV1NamespacedDeployment.
func (o operation) id(path string) string {
	group, version := groupOf(path)
	return o.verb + word(group, true) + word(version, true) + word(o.noun, true)
}

// tag returns the tag of the operations at path: apps_v1.
func tag(path string) string {
	group, version := groupOf(path)
	switch {
	case group == "":
		first, _, _ := strings.Cut(strings.Trim(path, "/"), "/")
		return word(first, false)
	case version == "":
		return word(group, false)
	}
	return word(group, false) + "_" + word(version, false)
}

// groupOf returns the group and version at the beginning of a path. The group is core for /api, and loses the domain of Kubernetes.
func groupOf(path string) (group, version string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		parts = append([]string{"apis", "core"}, parts[1:]...)
	}
	if parts[0] != "apis" {
		return "", ""
	}
	parts = append(parts, "", "")
	return strings.TrimSuffix(parts[1], ".k8s.io"), parts[2]
}

// word returns s in camel case, without the characters that names of operations cannot have. upper makes the first character upper case.
func word(s string, upper bool) string {
	var out strings.Builder
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && r != '_' && (i == 0 || !unicode.IsDigit(r)):
			upper = true
		case upper:
			out.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// common returns the parameters that all operations have, in order.
func common(operations []operation) []parameter {
	var out []parameter
	for _, p := range operations[0].parameters {
		if !slices.ContainsFunc(operations, func(o operation) bool { return !slices.ContainsFunc(o.parameters, p.same) }) {
			out = append(out, p)
		}
	}
	return inOrder(out)
}

// own returns the parameters of o that are not common to all operations of its path, in order.
func (o operation) own(common []parameter) []parameter {
	out := slices.DeleteFunc(slices.Clone(o.parameters), func(p parameter) bool { return slices.ContainsFunc(common, p.same) })
	return inOrder(out)
}

func (p parameter) same(other parameter) bool { return p.name == other.name && p.in == other.in }

func inOrder(list []parameter) []parameter {
	slices.SortFunc(list, func(a, b parameter) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.in, b.in)
	})
	return list
}

// extensions returns the members of an operation that name its kind and its action.
func (o operation) extensions(out value.Value) value.Value {
	if o.action == "" {
		return out
	}
	return out.With("x-kubernetes-action", value.String(o.action)).With(gvkExtension, gvk(o.kind))
}

func gvk(k schema.GVK) value.Value {
	return object("group", value.String(k.Group), "kind", value.String(k.Kind), "version", value.String(k.Version))
}
