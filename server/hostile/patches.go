package hostile

import (
	"net/http"
	"strings"
)

// patches returns attacks with patches.
func patches() []Attack {
	long := func(p Place, n int) []Request {
		return []Request{p.define(anything, ""), p.create(`{"l":[` + numbered(40*n, "1") + `]}`)}
	}
	deep := func(p Place, n int) []Request {
		return []Request{p.define(anything, ""), p.create(nested(n, `{"a":`, `"`+strings.Repeat("x", 100*n)+`"`, "}"))}
	}
	return []Attack{{
		Name: "JSON patch: copies of copies", Size: 20, Codes: []int{422}, Says: "exceeding the limit 3145728",
		Before: func(p Place, _ int) []Request {
			return []Request{{Method: http.MethodPost, Path: p.core("configmaps"), Body: `{"metadata":{"name":"o"},"data":{"a":"0123456789"}}`}}
		},
		Send: func(p Place, n int) Request {
			return patch(p.core("configmaps/o"), numbered(n, `{"op":"copy","from":"/data","path":"/data/d#"}`))
		},
	}, {
		Name: "JSON patch: items in front of a long list", Size: 500, Codes: []int{200}, Before: long,
		Send: func(p Place, n int) Request {
			return patch(p.things()+"/o", numbered(n, `{"op":"add","path":"/spec/l/0","value":1}`))
		},
	}, {
		Name: "JSON patch: items taken from a long list", Size: 500, Codes: []int{200}, Before: long,
		Send: func(p Place, n int) Request {
			return patch(p.things()+"/o", numbered(n, `{"op":"remove","path":"/spec/l/0"}`))
		},
	}, {
		Name: "JSON patch: a deep path", Size: 500, Codes: []int{200}, Before: deep,
		Send: func(p Place, n int) Request {
			return patch(p.things()+"/o", `{"op":"replace","path":"/spec`+strings.Repeat("/a", n)+`","value":1}`)
		},
	}, {
		Name: "JSON patch: a deep path into what it writes", Size: 500, Codes: []int{200, 422}, Says: "lead through more than 16777216 bytes",
		Before: func(p Place, n int) []Request { return []Request{p.define(anything, ""), p.create("{}")} },
		Send: func(p Place, n int) Request {
			value := nested(n, `{"a":`, `"`+strings.Repeat("x", 10_000)+`"`, "}")
			return patch(p.things()+"/o", `{"op":"add","path":"/spec/a","value":`+value+`},{"op":"remove","path":"/spec`+strings.Repeat("/a", n)+`"}`)
		},
	}, {
		Name: "merge patch: names twice, deep down", Size: 500, Codes: []int{200},
		Before: func(p Place, n int) []Request { return []Request{p.define(anything, ""), p.create("{}")} },
		Send: func(p Place, n int) Request {
			spec := nested(n, `{"a":`, `"`+strings.Repeat("x", 100*n)+`"`, "}")
			return Request{Method: http.MethodPatch, Path: p.things() + "/o", Media: mergePatch, Body: `{"spec":1,"spec":` + spec + `}`}
		},
	}}
}

// patch returns the request of a JSON patch.
func patch(path, operations string) Request {
	return Request{Method: http.MethodPatch, Path: path, Media: jsonPatch, Body: "[" + operations + "]"}
}
