package hostile

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
)

// values returns attacks with the values of objects.
func values() []Attack {
	post := func(path, body string) Request { return Request{Method: http.MethodPost, Path: path, Body: body} }
	pod := func(cpu string) string {
		return `{"metadata":{"name":"o"},"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"` + cpu + `"}}}]}}`
	}
	digits := func(n int) string { return strings.Repeat("7", n) }
	return []Attack{{
		Name: "a quantity of many digits", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request { return post(p.core("pods"), pod(digits(n))) },
	}, {
		Name: "a quantity with a long fraction", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request { return post(p.core("pods"), pod("0."+digits(n))) },
	}, {
		Name: "a quantity with a large exponent", Size: 500_000_000, Codes: []int{422}, Says: "exponents from -1024 to 1024",
		Send: func(p Place, n int) Request { return post(p.core("pods"), pod(fmt.Sprintf("1e%d", n))) },
	}, {
		Name: "a quantity with a small exponent", Size: 500_000_000, Codes: []int{422}, Says: "exponents from -1024 to 1024",
		Send: func(p Place, n int) Request { return post(p.core("pods"), pod(fmt.Sprintf("1e-%d", n))) },
	}, {
		Name: "a quantity with a small exponent, twice", Size: 500_000_000, Codes: []int{422}, Says: "exponents from -1024 to 1024",
		Send: func(p Place, n int) Request { return post(p.core("pods"), pod(fmt.Sprintf(`1e-%d","cpu":"1`, n))) },
	}, {
		Name: "a quota of many digits", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request {
			return post(p.core("resourcequotas"), `{"metadata":{"name":"o"},"spec":{"hard":{"cpu":"`+digits(n)+`"}}}`)
		},
	}, {
		Name: "an apply of a quantity of many digits", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request {
			body := strings.Replace(pod(digits(n)), `{`, `{"apiVersion":"v1","kind":"Pod",`, 1)
			return Request{Method: http.MethodPatch, Path: p.core("pods/o?fieldManager=a"), Media: applyPatch, Body: body}
		},
	}, {
		Name: "a claim of many digits", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request {
			return post(p.core("persistentvolumeclaims"), `{"metadata":{"name":"o"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"`+digits(n)+`"}}}}`)
		},
	}, {
		Name: "a text of many digits that is no quantity", Size: 100_000, Codes: []int{201},
		Send: func(p Place, n int) Request {
			return post(p.core("configmaps"), `{"metadata":{"name":"o"},"data":{"a":"`+digits(n)+`"}}`)
		},
	}, {
		Name: "a quantity of many digits, twice", Size: 100_000, Codes: []int{422}, Says: "no more than 1024 characters",
		Send: func(p Place, n int) Request {
			return post(p.core("pods"), pod(digits(n)+`","cpu":"1`))
		},
	}, {
		Name: "numbers of many digits", Size: 100_000, Codes: []int{400},
		Before: func(p Place, _ int) []Request { return []Request{p.define(anything, "")} },
		Send:   func(p Place, n int) Request { return p.create(`{"a":` + digits(n) + `,"b":0.` + digits(n) + `}`) },
	}, {
		Name: "a text against a large pattern", Size: 300_000, Codes: []int{201, 422}, Says: "patterns take more than",
		Before: func(p Place, _ int) []Request {
			return []Request{p.define(`{"type":"object","properties":{"a":{"type":"string","pattern":"^((a?){1000}){1}$"}}}`, "")}
		},
		Send: func(p Place, n int) Request { return p.create(`{"a":"` + strings.Repeat("a", n) + `"}`) },
	}, {
		Name: "a definition of large patterns", Size: 10_000, Codes: []int{422}, Says: "no more than 262144 instructions",
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","properties":{`+numbered(n, `"a#":{"type":"string","pattern":"a{1000}"}`)+`}}`, "")
		},
	}, {
		Name: "a pod of many empty containers", Size: 20_000, Codes: []int{422}, Says: "the fields of all objects together",
		Send: func(p Place, n int) Request {
			return post(p.core("pods"), `{"metadata":{"name":"o"},"spec":{"containers":[`+numbered(n, `{}`)+`]}}`)
		},
	}, {
		Name: "a pod of many empty volumes, in a patch", Size: 50_000, Codes: []int{422}, Says: "the fields of all objects together",
		Before: func(p Place, _ int) []Request { return []Request{post(p.core("pods"), pod(`1`))} },
		Send: func(p Place, n int) Request {
			return Request{Method: http.MethodPatch, Path: p.core("pods/o"), Media: mergePatch,
				Body: `{"spec":{"volumes":[` + numbered(n, `{}`) + `]}}`}
		},
	}, {
		Name: "a pod of many empty containers in protobuf", Size: 20_000, Codes: []int{422}, Says: "the fields of all objects together",
		Send: func(p Place, n int) Request {
			r := post(p.core("pods"), protobufOf(strings.Repeat("\x12\x00", n)))
			r.Media = "application/vnd.kubernetes.protobuf"
			return r
		},
	}, {
		Name: "a definition of many versions", Size: 500, Codes: []int{201}, PerByte: PerDefinitionByte,
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object"}`, `},`+numbered(n, `{"name":"v1alpha#","served":true,"storage":false,"deprecated":true,`+
				`"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object"}}}`)+`,{"name":"v2","served":true,"storage":false,`+
				`"schema":{"openAPIV3Schema":{"type":"object"}}`)
		},
	}, {
		Name: "a definition of many properties", Size: 12_000, Codes: []int{201, 422}, PerByte: PerDefinitionByte,
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","properties":{`+numbered(n, `"a#":{"type":"string"}`)+`}}`, "")
		},
	}, {
		Name: "a definition of many properties without types", Size: 16_000, Codes: []int{422}, PerByte: PerDefinitionByte,
		Says: "the fields of all objects together",
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","properties":{`+numbered(n, `"a#":{}`)+`}}`, "")
		},
	}, {
		Name: "a definition of many alternatives", Size: 8_000, Codes: []int{422}, PerByte: PerDefinitionByte,
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","anyOf":[`+numbered(n, `{"required":["a#"],"type":"object"}`)+`]}`, "")
		},
	}, {
		Name: "a definition of many defaults", Size: 8_000, Codes: []int{201}, PerByte: PerDefinitionByte,
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","properties":{`+numbered(n, `"a#":{"type":"string","default":"x"}`)+`}}`, "")
		},
	}, {
		Name: "a definition of many rules", Size: 400, Codes: []int{201, 422}, PerByte: 2 * PerDefinitionByte, Says: "no more than 1024 rules",
		Send: func(p Place, n int) Request {
			return p.define(`{"type":"object","properties":{`+
				numbered(n, `"a#":{"type":"string","maxLength":9,"x-kubernetes-validations":[{"rule":"self != '#'"}]}`)+`}}`, "")
		},
	}, {
		Name: "a rule about a quantity with an exponent of a billion", Size: 100_000_000, Codes: []int{422}, Says: "quantities must have exponents",
		Before: func(p Place, _ int) []Request {
			return []Request{p.define(aboutQuantity(`quantity('1e' + self.a)`, ""), "")}
		},
		Send: func(p Place, n int) Request { return p.create(fmt.Sprintf(`{"a":"%d"}`, n)) },
	}, {
		Name: "such a rule beside alternatives", Size: 100_000_000, Codes: []int{422}, Says: "quantities must have exponents",
		Before: func(p Place, _ int) []Request {
			return []Request{p.define(aboutQuantity(`quantity(self.a)`, `,"allOf":[{"required":["a"]}]`), "")}
		},
		Send: func(p Place, n int) Request { return p.create(fmt.Sprintf(`{"a":"1e%d"}`, n)) },
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

// aboutQuantity returns a schema whose rule compares a quantity of its member a. more has further members of the schema.
func aboutQuantity(quantity, more string) string {
	return `{"type":"object","properties":{"a":{"type":"string","maxLength":100}},"x-kubernetes-validations":[{"rule":"` + quantity +
		`.isGreaterThan(quantity('1'))"}]` + more + `}`
}

// protobufOf returns the protobuf body of a pod whose specification has the given fields.
func protobufOf(spec string) string {
	kind := field(1, "v1") + field(2, "Pod")
	return "k8s\x00" + field(1, kind) + field(2, field(2, spec))
}

// field returns a field of a message with a string or another message.
func field(number byte, content string) string {
	const delimited = 2
	return string(binary.AppendUvarint([]byte{number<<3 | delimited}, uint64(len(content)))) + content
}
