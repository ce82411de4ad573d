package openapi

import (
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
)

// This file has the operations of built-in kinds. kube-apiserver makes them from the routes of its endpoints.

const (
	textType     = "text/plain"
	jsonType     = "application/json"
	yamlType     = "application/yaml"
	protobufType = "application/vnd.kubernetes.protobuf"
	cborType     = "application/cbor"
	keysType     = "application/jwk-set+json"
	streaming    = ";stream=watch"
)

var (
	anyType     = []string{"*/*"}
	objectTypes = []string{jsonType, yamlType, protobufType}
	listTypes   = append(slices.Clone(objectTypes), jsonType+streaming, protobufType+streaming)
	patchTypes  = []string{
		"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
		"application/apply-patch+yaml",
	}
)

// withCBOR returns media types with the forms of CBOR beside those of protocol buffers, or of strategic merge patches. Operations of custom
// resources have neither.
func withCBOR(types []string) []string {
	var out []string
	for _, t := range types {
		if out = append(out, t); t == protobufType {
			out = append(out, cborType)
		}
	}
	switch {
	case slices.Contains(types, protobufType+streaming):
		out = append(out, cborType+"-seq")
	case slices.Contains(types, "application/strategic-merge-patch+json"):
		out = append(out, "application/apply-patch+cbor")
	}
	return out
}

// rootOf returns the path of a group version, with a slash at its end.
func rootOf(group, version string) string {
	if group == "" {
		return "/api/" + version + "/"
	}
	return "/apis/" + group + "/" + version + "/"
}

// endpoint is a resource, or a subresource, whose operations are added to paths.
type endpoint struct {
	paths       paths
	parent      string // the kind of the resource
	subresource string
	kind        schema.GVK // of the objects
	object      string     // the name of the schema of the objects
	scope       string     // Namespaced or empty
	all         string     // the path of a namespaced resource in all namespaces
	collection  string
	item        string
	namespace   []parameter
	name        parameter
}

// addBuiltIn adds the operations of a built-in kind and of its subresources.
func (p paths) addBuiltIn(v *catalog.Version) {
	root := rootOf(v.Group, v.Name)
	e := endpoint{
		paths: p, parent: v.Kind, kind: v.GVK(), object: typeName(reflect.TypeOf(v.New()).Elem()),
		collection: root + v.Plural, name: nameOf(v.Kind),
	}
	if v.Namespaced {
		e.scope, e.all, e.collection = "Namespaced", e.collection, root+"namespaces/{namespace}/"+v.Plural
		e.namespace = []parameter{namespaceParameter}
	}
	e.item = e.collection + "/{name}"
	if v.Has("list") {
		e.addList(strings.TrimSuffix(e.object, v.Kind)+v.ListKind, v.Has("watch"))
	}
	if v.Has("deletecollection") {
		e.addDeleteCollection()
	}
	e.addVerbs(e.collection, v.Verbs)
	if v.Has("delete") {
		e.addDelete(v.AnswersDeleted && v.Plural != "namespaces") // the endpoint of namespaces hides what its storage answers
	}
	for _, s := range v.Subresources() {
		e.addSubresource(v, s)
	}
}

var namespaceParameter = inPath("namespace", "object name and auth scope, such as for teams and projects")

func nameOf(kind string) parameter { return inPath("name", "name of the "+kind) }

// addSubresource adds the operations of a subresource. Its objects may be of another kind than those of the resource.
func (e endpoint) addSubresource(v *catalog.Version, s catalog.Subresource) {
	e.subresource, e.kind, e.item = s.Name, s.Kind, e.item+"/"+s.Name
	e.name = nameOf(s.Kind.Kind)
	action := v.Actions[s.Name]
	switch {
	case action != nil:
		e.object = typeName(reflect.TypeOf(action.New()).Elem())
	case s.Kind == catalog.ScaleKind:
		e.object = typeName(reflect.TypeOf(catalog.EmptyScale()).Elem())
	}
	if action != nil && action.Log {
		e.addLog(action)
		return
	}
	if action != nil && action.Connection != nil {
		e.addConnect(action)
		return
	}
	e.addVerbs(e.item, s.Verbs)
}

// addLog adds the operation that reads a text.
func (e endpoint) addLog(action *catalog.Version) {
	options := queryOf(reflect.ValueOf(action.New()).Elem().Interface(), "sinceTime")
	e.paths.add(e.item, operation{
		method: "get", verb: "read", noun: e.noun(""), action: "get", kind: e.kind, description: "read" + e.of(" of", " the specified "),
		parameters: e.named(options...), consumes: anyType, produces: append([]string{textType}, objectTypes...), answers: []answer{ok("")},
	})
}

// noun returns the noun of an operation. end comes after the subresource.
func (e endpoint) noun(end string) string {
	return e.scope + e.parent + word(e.subresource, true) + end
}

// of returns what an operation is about: a kind, or a subresource of it. between stands between the two.
func (e endpoint) of(between, article string) string {
	if e.subresource == "" {
		return article + e.parent
	}
	return " " + e.subresource + between + article + e.parent
}

// article returns the indefinite article for a kind, between spaces. Plurals have none.
func article(kind string) string {
	switch {
	case strings.HasSuffix(kind, "s") && !strings.HasSuffix(kind, "ss"):
		return " "
	case strings.ContainsAny(kind[:1], "aeiouAEIOU"):
		return " an "
	}
	return " a "
}

// parameters returns the parameters of an operation in a namespace, if the resource is namespaced.
func (e endpoint) parameters(more ...parameter) []parameter {
	return slices.Concat([]parameter{pretty}, e.namespace, more)
}

func (e endpoint) named(more ...parameter) []parameter { return append(e.parameters(more...), e.name) }

// addList adds the operations that list and watch. list is the name of the schema of lists.
func (e endpoint) addList(list string, watched bool) {
	description := "list objects of kind " + e.parent
	if watched {
		description = "list or watch objects of kind " + e.parent
	}
	listing := operation{
		method: "get", verb: "list", noun: e.noun(""), action: "list", kind: e.kind, description: description,
		parameters: e.parameters(queryOf(metav1.ListOptions{})...), consumes: anyType, produces: listTypes, answers: []answer{ok(list)},
	}
	e.paths.add(e.collection, listing)
	everywhere := e
	everywhere.scope, everywhere.namespace = "", nil
	if e.all != "" {
		listing.noun, listing.parameters = e.parent+"ForAllNamespaces", everywhere.parameters(queryOf(metav1.ListOptions{})...)
		e.paths.add(e.all, listing)
	}
	if !watched {
		return
	}
	const advice = ". deprecated: use the 'watch' parameter with a list operation instead"
	watch := operation{
		method: "get", verb: "watch", kind: e.kind, consumes: anyType, produces: listTypes, answers: []answer{ok(metaPrefix + "WatchEvent")},
	}
	watch.noun, watch.action, watch.parameters = e.noun(""), "watch", e.named(queryOf(metav1.ListOptions{})...)
	watch.description = "watch changes to an object of kind " + e.parent + advice + ", filtered to a single item with the 'fieldSelector' parameter."
	e.paths.add(watchPath(e.kind, e.item), watch)
	watch.noun, watch.action, watch.parameters = e.noun("List"), "watchlist", e.parameters(queryOf(metav1.ListOptions{})...)
	watch.description = "watch individual changes to a list of " + e.parent + advice + "."
	e.paths.add(watchPath(e.kind, e.collection), watch)
	if e.all != "" {
		watch.noun, watch.parameters = e.parent+"ListForAllNamespaces", everywhere.parameters(queryOf(metav1.ListOptions{})...)
		e.paths.add(watchPath(e.kind, e.all), watch)
	}
}

// watchPath returns the path of watches for a path of resources.
func watchPath(kind schema.GVK, path string) string {
	root := rootOf(kind.Group, kind.Version)
	return root + "watch/" + strings.TrimPrefix(path, root)
}

// addVerbs adds the operations of verbs that read and write single objects. Objects are created at the path collection.
func (e endpoint) addVerbs(collection string, verbs []string) {
	one := operation{kind: e.kind, noun: e.noun(""), consumes: anyType, produces: objectTypes}
	for _, verb := range verbs {
		o, path := one, e.item
		switch verb {
		case "get":
			o.method, o.verb, o.action, o.description = "get", "read", "get", "read"+e.of(" of", " the specified ")
			o.parameters, o.answers = e.named(), []answer{ok(e.object)}
		case "create":
			o.method, o.verb, o.action, o.description = "post", "create", "post", "create"+e.of(" of", article(e.parent))
			o.parameters, path = e.parameters(queryOf(metav1.CreateOptions{})...), collection
			if e.subresource != "" {
				o.parameters = append(o.parameters, e.name)
			}
			o.body, o.answers = e.object, []answer{ok(e.object), created(e.object), accepted(e.object)}
		case "update":
			o.method, o.verb, o.action, o.description = "put", "replace", "put", "replace"+e.of(" of", " the specified ")
			o.parameters = e.named(queryOf(metav1.UpdateOptions{})...)
			o.body, o.answers = e.object, []answer{ok(e.object), created(e.object)}
		case "patch":
			o.method, o.verb, o.action, o.description = "patch", "patch", "patch", "partially update"+e.of(" of", " the specified ")
			o.parameters, o.consumes = e.named(queryOf(metav1.PatchOptions{})...), patchTypes
			o.body, o.answers = metaPrefix+"Patch", []answer{ok(e.object), created(e.object)}
		default:
			continue
		}
		e.paths.add(path, o)
	}
}

const (
	deleteOptions = metaPrefix + "DeleteOptions"
	statusName    = metaPrefix + "Status"
)

// addDelete adds the operation that deletes an object. It answers with the object or with a Status.
func (e endpoint) addDelete(withObject bool) {
	answered := statusName
	if withObject {
		answered = e.object
	}
	e.paths.add(e.item, operation{
		method: "delete", verb: "delete", noun: e.noun(""), action: "delete", kind: e.kind, description: "delete" + article(e.parent) + e.parent,
		parameters: e.named(queryOf(metav1.DeleteOptions{})...), body: deleteOptions, optional: true,
		consumes: anyType, produces: objectTypes, answers: []answer{ok(answered), accepted(answered)},
	})
}

func (e endpoint) addDeleteCollection() {
	parameters := append(queryOf(metav1.DeleteOptions{}), queryOf(metav1.ListOptions{}, "watch", "allowWatchBookmarks")...)
	e.paths.add(e.collection, operation{
		method: "delete", verb: "delete", noun: "Collection" + e.noun(""), action: "deletecollection", kind: e.kind,
		description: "delete collection of " + e.parent, parameters: e.parameters(parameters...), body: deleteOptions, optional: true,
		consumes: anyType, produces: objectTypes, answers: []answer{ok(statusName)},
	})
}

// addConnect adds the operations of a connection: each method that it takes, and the same with a path below it.
func (e endpoint) addConnect(action *catalog.Version) {
	methods := []string{"get", "post"}
	if action.Connection.Below {
		methods = []string{"delete", "get", "head", "options", "patch", "post", "put"}
	}
	for _, method := range methods {
		o := operation{
			method: method, verb: "connect", noun: word(method, true) + e.noun(""), action: "connect", kind: e.kind,
			description: "connect " + strings.ToUpper(method) + " requests to" + e.of(" of", " "),
			parameters:  slices.Concat(queryOf(reflect.ValueOf(action.New()).Elem().Interface()), e.namespace, []parameter{e.name}),
			consumes:    anyType, produces: anyType, answers: []answer{ok("")},
		}
		e.paths.add(e.item, o)
		if action.Connection.Below {
			o.noun += "WithPath"
			o.parameters = append(slices.Clone(o.parameters), inPath("path", "path to the resource"))
			e.paths.add(e.item+"/{path}", o)
		}
	}
}
