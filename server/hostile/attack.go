package hostile

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Attack is one kind of hostile request. What n counts, operations, items or characters, is up to the attack: its bodies grow with n.
type Attack struct {
	Name string
	// Size is the n that the short form begins with. It goes on with twice and four times as much.
	Size int
	// Before returns requests that make the objects that the attack needs. They are no attacks themselves. Nil makes none.
	Before func(p Place, n int) []Request
	// Send returns the request that is the attack.
	Send func(p Place, n int) Request
	// PerByte is how many bytes a server may allocate for each byte that is sent, if that is another number than for most requests.
	PerByte int64
	// Codes are the status codes that the attack may be answered with.
	Codes []int
	// Says is part of the answer to the largest form: the bound that it met. It is empty if the attack meets none.
	Says string
	// Reads tells that the answer shows stored objects, so that its length is not bounded.
	Reads bool
}

// Attacks returns all attacks.
func Attacks() []Attack {
	return slices.Concat(patches(), refusals(), wrongValues(), values(), columns())
}

// Request is a request, apart from who sends it.
type Request struct {
	Method, Path string
	Media        string // of the body; application/json if empty
	Accept       string
	Body         string
}

// Place is where one run of an attack happens, so that runs do not meet.
type Place struct {
	Namespace string
	Group     string // of custom resources
}

// Media types of bodies.
const (
	typeJSON   = "application/json"
	jsonPatch  = "application/json-patch+json"
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
)

// table is what a client accepts that shows objects as rows.
const table = "application/json;as=Table;g=meta.k8s.io;v=v1"

// HTTP returns the request for the server at a URL, which has no slash at its end.
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

// Prepare returns the requests that make a place, and what the attack needs in it.
func (a Attack) Prepare(p Place, n int) []Request {
	out := []Request{{
		Method: http.MethodPost, Path: "/api/v1/namespaces", Body: `{"metadata":{"name":"` + p.Namespace + `"}}`,
	}}
	if a.Before != nil {
		out = append(out, a.Before(p, n)...)
	}
	return out
}

// Clear returns the requests that remove a place.
func (p Place) Clear() []Request {
	return []Request{
		{Method: http.MethodDelete, Path: "/api/v1/namespaces/" + p.Namespace},
		{Method: http.MethodDelete, Path: definitions + "/things." + p.Group},
	}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// anything is the schema of a spec that may hold anything.
const anything = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`

// core returns the path of objects of the core group in the place.
func (p Place) core(resource string) string {
	return "/api/v1/namespaces/" + p.Namespace + "/" + resource
}

// things returns the path of the custom resources of the place.
func (p Place) things() string {
	return "/apis/" + p.Group + "/v1/namespaces/" + p.Namespace + "/things"
}

// define returns the request that defines the custom resources of the place, given the schema of their spec. more is what the version has
// beside its schema: members, each behind a comma.
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

// numbered returns n texts, joined by commas, in which # stands for the number of each.
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

// nested returns a text within n pairs of others.
func nested(n int, open, inner, end string) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}
