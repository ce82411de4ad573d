package hostile

import (
	"net/http"
	"strings"
)

// columns returns attacks on the columns of tables.
func columns() []Attack {
	get := func(path string) Request { return Request{Method: http.MethodGet, Path: path, Accept: table} }
	shows := func(path string) string {
		return `,"additionalPrinterColumns":[{"name":"c","type":"string","jsonPath":"` + path + `"}]`
	}
	return []Attack{{
		Name: "a column of descendants of descendants", Size: 10, Codes: []int{200}, Says: "given up", Reads: true,
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, shows(strings.Repeat("..a", n))), p.create(nested(80, `{"a":`, "1", "}"))}
		},
		Send: func(p Place, _ int) Request { return get(p.things()) },
	}, {
		Name: "one object with a column of descendants of descendants", Size: 10, Codes: []int{200}, Says: "given up", Reads: true,
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, shows(strings.Repeat("..a", n))), p.create(nested(80, `{"a":`, "1", "}"))}
		},
		Send: func(p Place, _ int) Request { return get(p.things() + "/o") },
	}, {
		Name: "a column of all of all", Size: 10, Codes: []int{200}, Says: "given up", Reads: true,
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, shows(strings.Repeat("..a[*]", n))), p.create(nested(80, `{"a":[`, "1", "]}"))}
		},
		Send: func(p Place, _ int) Request { return get(p.things()) },
	}, {
		Name: "a column that filters by filters", Size: 200, Codes: []int{200}, Reads: true,
		Before: func(p Place, n int) []Request {
			return []Request{p.define(anything, shows(`.spec.l[?(@.a==\"x\")].l[?(@.a==\"x\")].b`)),
				p.create(`{"l":[` + numbered(n, `{"a":"y","l":[{"a":"y"}]}`) + `]}`)}
		},
		Send: func(p Place, _ int) Request { return get(p.things()) },
	}, {
		Name: "many columns of everything", Size: 50, Codes: []int{200}, Says: "given up", Reads: true,
		Before: func(p Place, n int) []Request {
			return []Request{
				p.define(anything, `,"additionalPrinterColumns":[`+numbered(n, `{"name":"c#","type":"string","jsonPath":".spec"}`)+`]`),
				p.create(`{"a":"` + strings.Repeat("x", 1000*n) + `"}`),
			}
		},
		Send: func(p Place, _ int) Request { return get(p.things()) },
	}}
}
