package hostile

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Attack is one kind of hostile request. Its bodies grow with n, which counts operations, items or characters.
type Attack struct {
	Name string
	// Size is the n of the first run of the short form. The next runs take twice and four times as much.
	Size int
	// Before returns the harmless requests that create the objects of the attack. Nil creates none.
	Before func(p Place, n int) []Request
	// Send returns the hostile request.
	Send func(p Place, n int) Request
	// PerByte is the number of bytes that a server may allocate per byte sent. 0 means the constant PerByte.
	PerByte int64
	// Codes are the allowed status codes of the answer.
	Codes []int
	// Says is a part of the answer to the largest form: the name of the bound. It is empty if the attack exceeds no bound.
	Says string
	// Reads tells that the answer contains stored objects, so that its length has no bound.
	Reads bool
}

// Attacks returns the table of all attacks.
func Attacks() []Attack {
	return slices.Concat(patches(), refusals(), wrongValues(), values(), columns())
}

// Request is a request without its sender.
type Request struct {
	Method, Path string
	Media        string // of the body; empty means application/json
	Accept       string
	Body         string
}

// Place is the namespace and API group of one run of an attack, so that runs do not affect each other.
type Place struct {
	Namespace string
	Group     string // for custom resources
}

// Media types of bodies.
const (
	typeJSON   = "application/json"
	jsonPatch  = "application/json-patch+json"
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
)

// table is an Accept header for tables.
const table = "application/json;as=Table;g=meta.k8s.io;v=v1"

// HTTP returns the request for the server at a URL without a trailing slash.
func (r Request) HTTP(url string) (*http.Request, error) {
	out, err := http.NewRequest(r.Method, url+r.Path, strings.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	if r.Media == "" {
		r.Media = typeJSON
	}
	out.Header.Set("Content-Type", r.Media)
	if r.Accept != "" {
		out.Header.Set("Accept", r.Accept)
	}
	return out, nil
}

// Prepare returns the requests that create a place and the objects of the attack.
func (a Attack) Prepare(p Place, n int) []Request {
	out := []Request{{
		Method: http.MethodPost, Path: "/api/v1/namespaces", Body: `{"metadata":{"name":"` + p.Namespace + `"}}`,
	}}
	if a.Before != nil {
		out = append(out, a.Before(p, n)...)
	}
	return out
}

// Clear returns the requests that delete a place.
func (p Place) Clear() []Request {
	return []Request{
		{Method: http.MethodDelete, Path: "/api/v1/namespaces/" + p.Namespace},
		{Method: http.MethodDelete, Path: definitions + "/things." + p.Group},
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// anything is the schema of a spec without rules.
const anything = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`

// core returns the path of a core resource in the place.
func (p Place) core(resource string) string {
	return "/api/v1/namespaces/" + p.Namespace + "/" + resource
}

// things returns the path of the custom resources of the place.
func (p Place) things() string {
	return "/apis/" + p.Group + "/v1/namespaces/" + p.Namespace + "/things"
}

// define returns the request that defines the custom resources of the place with the schema of their spec. more has further members of the
// version, each after a comma.
func (p Place) define(spec, more string) Request {
	return Request{Method: http.MethodPost, Path: definitions, Body: fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1",`+
		`"kind":"CustomResourceDefinition","metadata":{"name":"things.%[1]s"},"spec":{"group":"%[1]s","scope":"Namespaced",`+
		`"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,`+
		`"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":%s}}}%s}]}}`, p.Group, spec, more)}
}

// thing returns the text of a custom resource of the place.
func (p Place) thing(spec string) string {
	return fmt.Sprintf(`{"apiVersion":"%s/v1","kind":"Thing","metadata":{"name":"o"},"spec":%s}`, p.Group, spec)
}

// create returns the request that creates a custom resource of the place.
func (p Place) create(spec string) Request {
	return Request{Method: http.MethodPost, Path: p.things(), Body: p.thing(spec)}
}

// numbered returns n copies of item joined by commas, with # replaced by the number of each.
func numbered(n int, item string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(item, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// nested returns inner within n pairs of open and end.
func nested(n int, open, inner, end string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}
