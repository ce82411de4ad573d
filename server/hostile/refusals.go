package hostile

import (
	"net/http"
	"strings"
)

// refusals are attacks by what is said about requests that are refused: it may be much longer than they are.
func refusals() []Attack {
	post := func(path, body string) Request { return Request{Method: http.MethodPost, Path: path, Body: body} }
	owners := func(n int) string {
		return numbered(n, `{"apiVersion":"v1","kind":"Pod","name":"p#","uid":"u#","controller":true}`)
	}
	defines := func(spec string) func(Place, int) []Request {
		return func(p Place, _ int) []Request { return []Request{p.define(spec, "")} }
	}
	const (
		texts  = `{"type":"object","additionalProperties":{"type":"string"}}`
		mapped = `{"type":"object","additionalProperties":` + texts + `}`
		things = `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}}`
		deeply = `{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"object","additionalProperties":` + mapped + `}}}`
	)
	return []Attack{{
		Name: "owners that are all controllers", Size: 1000, Codes: []int{422}, Says: " more]",
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps"), `{"metadata":{"name":"o","ownerReferences":[`+owners(n)+`]}}`)
		},
	}, {
		Name: "owners of a custom resource that are all controllers", Size: 1000, Codes: []int{422}, Says: " more]", Before: defines(anything),
		Send: func(p Place, n int) Request {
			return post(p.things(), strings.Replace(p.thing("{}"), `"name":"o"`, `"name":"o","ownerReferences":[`+owners(n)+`]`, 1))
		},
	}, {
		Name: "bad labels", Size: 10_000, Codes: []int{422}, Says: " more]",
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps"), `{"metadata":{"name":"o","labels":{`+numbered(n, `"-#":"-"`)+`}}}`)
		},
	}, {
		Name: "a long name of control characters", Size: 100_000, Codes: []int{422}, Says: "more bytes",
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps"), `{"metadata":{"name":"`+strings.Repeat(`\u0001`, n)+`"}}`)
		},
	}, {
		Name: "a field manager that cannot be printed", Size: 20_000, Codes: []int{422}, Says: " more]",
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps")+"?fieldManager="+strings.Repeat("%01", n), `{"metadata":{"name":"o"}}`)
		},
	}, {
		Name: "a patch of a path of brackets", Size: 200_000, Codes: []int{422},
		Before: func(p Place, _ int) []Request {
			return []Request{post(p.core("configmaps"), `{"metadata":{"name":"o"}}`)}
		},
		Send: func(p Place, n int) Request {
			return Request{Method: http.MethodPatch, Path: p.core("configmaps/o"), Media: jsonPatch,
				Body: `[{"op":"remove","path":"/` + strings.Repeat("<", n) + `"}]`}
		},
	}, {
		Name: "unknown fields below a long name", Size: 5000, Codes: []int{400}, Says: "more", Before: defines(things),
		Send: func(p Place, n int) Request {
			r := p.create(longName + `{` + numbered(n, `"b#":1`) + `}}`)
			r.Path += "?fieldValidation=Strict"
			return r
		},
	}, {
		Name: "unknown fields below a long name, to be warned of", Size: 5000, Codes: []int{201}, Before: defines(things),
		Send: func(p Place, n int) Request {
			return p.create(longName + `{` + numbered(n, `"b#":1`) + `}}`)
		},
	}, {
		Name: "unknown fields of a pod", Size: 10_000, Codes: []int{400},
		Send: func(p Place, n int) Request {
			return post(p.core("pods")+"?fieldValidation=Strict", `{"metadata":{"name":"o"},"spec":{"containers":[{`+numbered(n, `"b#":1`)+`}]}}`)
		},
	}, {
		Name: "unknown fields of a definition below a long name", Size: 5000, Codes: []int{400},
		Send: func(p Place, n int) Request {
			r := p.define(`{"type":"object","properties":`+longName+`{`+numbered(n, `"b#":1`)+`}}}`, "")
			r.Path += "?fieldValidation=Strict"
			return r
		},
	}, {
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

// longName opens an object and names a member of it, below which paths are long, and just not too long.
var longName = `{"` + strings.Repeat("k", 800) + `":`

// longMember opens an object and names a member of it, as long as YAML lets names be.
var longMember = `{"` + strings.Repeat("k", 200) + `":`

// apply returns the request that applies a custom resource of the place.
func (p Place) apply(manager, spec string) Request {
	return Request{Method: http.MethodPatch, Path: p.things() + "/o?fieldManager=" + manager, Media: applyPatch, Body: p.thing(spec)}
}
