package hostile

import "strings"

// values are attacks by what objects hold.
func values() []Attack {
	return []Attack{{
		Name: "a text against a large pattern", Size: 300_000, Codes: []int{201, 422}, Says: "patterns take more than",
		Before: func(p Place, _ int) []Request {
			return []Request{p.define(`{"type":"object","properties":{"a":{"type":"string","pattern":"^((a?){1000}){1}$"}}}`, "")}
		},
		Send: func(p Place, n int) Request { return p.create(`{"a":"` + strings.Repeat("a", n) + `"}`) },
	}, {
		Name: "defaults of many items", Size: 400, Codes: []int{201, 500}, Says: "etcdserver: request is too large",
		Before: func(p Place, n int) []Request {
			return []Request{p.define(`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":`+
				`{"a":{"type":"string","default":"`+strings.Repeat("x", 20*n)+`"}}}}}}`, "")}
		},
		Send: func(p Place, n int) Request { return p.create(`{"l":[` + numbered(n, "{}") + `]}`) },
	}, {
		Name: "an object that is too large", Size: 600_000, Codes: []int{201, 500}, Says: "larger than max",
		Before: func(p Place, _ int) []Request { return []Request{p.define(anything, "")} },
		Send:   func(p Place, n int) Request { return p.create(`{"a":"` + strings.Repeat("x", n) + `"}`) },
	}}
}
