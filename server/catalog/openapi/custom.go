package openapi

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
)

// This file has the operations of custom resources. kube-apiserver does not make them from its routes, and describes them in less detail.

// customName returns the name of the schema of a kind: org.example.v1.Thing for things of example.org/v1.
func customName(v *catalog.Version, kind string) string {
	parts := strings.Split(v.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, v.Name, kind), ".")
}

// addCustom adds the operations of a custom resource and of its subresources.
func (p paths) addCustom(v *catalog.Version) {
	e := customEndpoint{v: v, object: customName(v, v.Kind)}
	collection := rootOf(v.Group, v.Name) + v.Plural
	list := customName(v, v.ListKind)
	if v.Namespaced {
		everywhere := e.operation("list", list)
		everywhere.noun = v.Kind + "ForAllNamespaces"
		p.add(collection, everywhere)
		e.scope, e.place = "Namespaced", []parameter{namespaceParameter}
		collection = rootOf(v.Group, v.Name) + "namespaces/{namespace}/" + v.Plural
	}
	deleted := e.operation("deletecollection", statusName)
	p.add(collection, e.operation("list", list), e.operation("create", e.object), deleted)

	e.place = append(slices.Clip(e.place), nameOf(v.Kind))
	p.add(collection+"/{name}", e.operation("get", e.object), e.operation("update", e.object), e.operation("delete", statusName),
		e.operation("patch", e.object))
	for _, s := range v.Subresources() {
		e.subresource, e.object = s.Name, customName(v, v.Kind)
		if s.Kind == catalog.ScaleKind {
			e.object = scaleName
		}
		p.add(collection+"/{name}/"+s.Name, e.operation("get", e.object), e.operation("update", e.object), e.operation("patch", e.object))
	}
}

const scaleName = "io.k8s.api.autoscaling.v1.Scale"

// customEndpoint is a custom resource or a subresource of it.
type customEndpoint struct {
	v           *catalog.Version
	subresource string
	object      string // the name of the schema of the objects
	scope       string // Namespaced or empty
	place       []parameter
}

// operation returns the operation of a verb. answered is the name of the schema of its answer.
func (e customEndpoint) operation(verb, answered string) operation {
	o := operation{
		kind: e.v.GVK(), noun: e.scope + e.v.Kind + word(e.subresource, true), consumes: []string{jsonType, yamlType},
		produces: []string{jsonType, yamlType}, answers: []answer{ok(answered)},
	}
	about := endpoint{parent: e.v.Kind, subresource: e.subresource}
	var options []parameter
	switch verb {
	case "list":
		o.method, o.verb, o.action, o.description = "get", "list", "list", "list objects of kind "+e.v.Kind
		options = queryOf(metav1.ListOptions{})
	case "create":
		o.method, o.verb, o.action, o.description = "post", "create", "post", "create"+article(e.v.Kind)+e.v.Kind
		options, o.body = queryOf(metav1.CreateOptions{}), e.object
		o.answers = append(o.answers, created(answered), accepted(answered))
	case "deletecollection":
		o.method, o.verb, o.action, o.description = "delete", "delete", "deletecollection", "delete collection of "+e.v.Kind
		options, o.noun = queryOf(metav1.ListOptions{}), "Collection"+o.noun
	case "get":
		o.method, o.verb, o.action, o.description = "get", "read", "get", "read"+about.of(" of", " the specified ")
		options = queryOf(metav1.GetOptions{})
	case "update":
		o.method, o.verb, o.action, o.description = "put", "replace", "put", "replace"+about.of(" of", " the specified ")
		options, o.body, o.answers = queryOf(metav1.UpdateOptions{}), e.object, append(o.answers, created(answered))
	case "delete":
		o.method, o.verb, o.action, o.description = "delete", "delete", "delete", "delete"+article(e.v.Kind)+e.v.Kind
		options, o.body, o.optional = queryOf(metav1.DeleteOptions{}), deleteOptions, true
		o.answers = append(o.answers, accepted(answered))
	case "patch":
		o.method, o.verb, o.action, o.description = "patch", "patch", "patch", "partially update"+about.of(" of", " the specified ")
		options, o.body = queryOf(metav1.PatchOptions{}), metaPrefix+"Patch"
		o.consumes = []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"}
	}
	o.parameters = slices.Concat([]parameter{pretty}, options, e.place)
	return o
}
