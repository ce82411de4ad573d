package hostile

import (
	"net/http"
	"strings"
)

// refusals returns attacks with refused requests, whose refusals may be much longer than the requests.
func refusals() []Attack {
	owners := func(n int) string {
		return numbered(n, `{"apiVersion":"v1","kind":"Pod","name":"p#","uid":"u#","controller":true}`)
	}
	const things = `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}}`
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
		Name: "names that stand twice below a long name", Size: 1000, Codes: []int{400, 422}, Says: "characters",
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps")+"?fieldValidation=Strict", twiceBelow(n))
		},
	}, {
		Name: "names that stand twice below a long name of a custom resource", Size: 1000, Codes: []int{400, 422}, Says: "characters",
		Before: defines(anything),
		Send: func(p Place, n int) Request {
			r := p.create(`{"a":` + twiceBelow(n) + `}`)
			r.Path += "?fieldValidation=Strict"
			return r
		},
	}, {
		Name: "a merge patch of names that stand twice below a long name", Size: 1000, Codes: []int{200, 422}, Says: "characters",
		Before: func(p Place, _ int) []Request {
			return []Request{post(p.core("configmaps"), `{"metadata":{"name":"o"}}`)}
		},
		Send: func(p Place, n int) Request {
			return Request{Method: http.MethodPatch, Path: p.core("configmaps/o"), Media: mergePatch, Body: twiceBelow(n)}
		},
	}, {
		Name: "YAML of names that stand twice below a long name", Size: 1000, Codes: []int{400, 422},
		Send: func(p Place, n int) Request {
			r := post(p.core("configmaps")+"?fieldValidation=Strict", twiceBelow(n))
			r.Media = "application/yaml"
			return r
		},
	}}
}

// twiceBelow returns an object with n duplicate names below a name of 10n characters.
func twiceBelow(n int) string {
	return `{"metadata":{"name":"o"},"` + strings.Repeat("k", 10*n) + `":{` + numbered(n, `"b#":1,"b#":2`) + `}}`
}

// post returns a request that creates an object.
func post(path, body string) Request { return Request{Method: http.MethodPost, Path: path, Body: body} }

// defines returns a function for Attack.Before that defines a resource with a schema for its spec.
func defines(spec string) func(Place, int) []Request {
	return func(p Place, _ int) []Request { return []Request{p.define(spec, "")} }
}

// wrongValues returns attacks with invalid values, each of which a refusal may name with its whole path.
func wrongValues() []Attack {
	const (
		texts   = `{"type":"object","additionalProperties":{"type":"string"}}`
		mapped  = `{"type":"object","additionalProperties":` + texts + `}`
		list    = `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}}}}`
		deeply  = `{"type":"object","additionalProperties":{"type":"object","additionalProperties":{"type":"object","additionalProperties":` + mapped + `}}}`
		numbers = `{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"},` +
			`"anyOf":[{"items":{"minimum":10000000}},{"items":{"maximum":-1}}]}}}`
		ruled = `{"type":"object","additionalProperties":{"type":"object","additionalProperties":` +
			`{"type":"integer","x-kubernetes-validations":[{"rule":"self<0"}]}}}`
		sets     = `{"type":"object","additionalProperties":{"type":"array","items":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}}}}`
		embedded = `{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`
	)
	return []Attack{{
		Name: "wrong values below a long name", Size: 1000, Codes: []int{422}, Says: " more]", Before: defines(mapped),
		Send: func(p Place, n int) Request {
			return p.create(longName + `{` + numbered(n, `"b#":1`) + `}}`)
		},
	}, {
		Name: "wrong items", Size: 10_000, Codes: []int{422}, Says: " more]", Before: defines(list),
		Send: func(p Place, n int) Request { return p.create(`{"l":[` + numbered(n, `#`) + `]}`) },
	}, {
		Name: "wrong items in the place of others", Size: 10_000, Codes: []int{422}, Says: " more]",
		Before: func(p Place, n int) []Request {
			return []Request{p.define(list, ""), p.create(`{"l":[` + numbered(n, `"#"`) + `]}`)}
		},
		Send: func(p Place, n int) Request {
			return Request{Method: http.MethodPatch, Path: p.things() + "/o", Media: mergePatch, Body: `{"spec":{"l":[` + numbered(n, `#`) + `]}}`}
		},
	}, {
		Name: "items that no alternative takes", Size: 20_000, Codes: []int{422}, Says: "must validate at least one schema", Before: defines(numbers),
		Send: func(p Place, n int) Request { return p.create(`{"l":[` + numbered(n, `#`) + `]}`) },
	}, {
		Name: "items that a rule refuses below a long name", Size: 1000, Codes: []int{422}, Says: " more]", Before: defines(ruled),
		Send: func(p Place, n int) Request {
			return p.create(longName + `{` + numbered(n, `"b#":1`) + `}}`)
		},
	}, {
		Name: "items twice below a long name", Size: 1000, Codes: []int{422}, Says: " more]", Before: defines(sets),
		Send: func(p Place, n int) Request {
			return p.create(longName + `[` + numbered(n, `[1,1]`) + `]}`)
		},
	}, {
		Name: "embedded resources below a long name", Size: 2500, Codes: []int{422}, Says: "what is wrong cannot be told", Before: defines(embedded),
		Send: func(p Place, n int) Request {
			return p.create(longName + `[` + numbered(n, `{"metadata":{}}`) + `]}`)
		},
	}, {
		Name: "conflicts below long names", Size: 1000, Codes: []int{409}, Says: "more",
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, ""), p.apply("a", nested(4, longMember, "{"+numbered(n, `"b#":1`)+"}", "}"))}
		},
		Send: func(p Place, n int) Request {
			return p.apply("b", nested(4, longMember, "{"+numbered(n, `"b#":2`)+"}", "}"))
		},
	}, {
		Name: "an apply of wrong values below long names", Size: 1000, Codes: []int{500}, Says: "more", Before: defines(deeply),
		Send: func(p Place, n int) Request {
			return p.apply("a", nested(4, longMember, "{"+numbered(n, `"b#":[1]`)+"}", "}"))
		},
	}}
}

// longName opens an object with a long member name: the paths below are long, and just within the bound.
var longName = `{"` + strings.Repeat("k", 800) + `":`

// longMember opens an object with a member name of the greatest length that YAML allows.
var longMember = `{"` + strings.Repeat("k", 200) + `":`

// apply returns the request that applies a custom resource of the place.
func (p Place) apply(manager, spec string) Request {
	return Request{Method: http.MethodPatch, Path: p.things() + "/o?fieldManager=" + manager, Media: applyPatch, Body: p.thing(spec)}
}
