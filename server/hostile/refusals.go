package hostile

import (
	"net/http"
	"strings"
)

// refusals are attacks by what is said about requests that are refused: it may be much longer than they are.
func refusals() []Attack {
	defines := func(spec string) func(Place, int) []Request {
		return func(p Place, _ int) []Request { return []Request{p.define(spec, "")} }
	}
	const (
		texts  = `{"type":"object","additionalProperties":{"type":"string"}}`
		mapped = `{"type":"object","additionalProperties":` + texts + `}`
		deeply = `{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"object","additionalProperties":` + mapped + `}}}`
	)
	return []Attack{{
		Name: "conflicts below long names", Size: 5000, Codes: []int{409}, Says: "more",
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, ""), p.apply("a", nested(4, longMember, "{"+numbered(n, `"b#":1`)+"}", "}"))}
		},
		Send: func(p Place, n int) Request {
			return p.apply("b", nested(4, longMember, "{"+numbered(n, `"b#":2`)+"}", "}"))
		},
	}, {
		Name: "an apply of wrong values below long names", Size: 5000, Codes: []int{500}, Says: "more", Before: defines(deeply),
		Send: func(p Place, n int) Request {
			return p.apply("a", nested(4, longMember, "{"+numbered(n, `"b#":[1]`)+"}", "}"))
		},
	}}
}

// longMember opens an object and names a member of it, as long as YAML lets names be.
var longMember = `{"` + strings.Repeat("k", 200) + `":`

// apply returns the request that applies a custom resource of the place.
func (p Place) apply(manager, spec string) Request {
	return Request{Method: http.MethodPatch, Path: p.things() + "/o?fieldManager=" + manager, Media: applyPatch, Body: p.thing(spec)}
}
