package pair

import (
	"net/http"
	"testing"
)

// TestCompare says which answers differ.
func TestCompare(t *testing.T) {
	reply := func(code int, form, body string) Reply {
		return Reply{Code: code, Header: http.Header{"Content-Type": {form}, "Date": {body}}, Body: []byte(body)}
	}
	const form = "application/json"
	for _, c := range []struct {
		name        string
		there, here Reply
		differ      int
	}{
		{"equal but for the order and for what a server chooses", reply(200, form, `{"a":1,"metadata":{"uid":"1"}}`), reply(200, form, `{"metadata":{"uid":"2"},"a":1}`), 0},
		{"a code", reply(200, form, `{}`), reply(201, form, `{}`), 1},
		{"a header", reply(200, form, `{}`), reply(200, "application/yaml", `{}`), 1},
		{"a member and an item", reply(200, form, `{"a":1,"b":[1,2]}`), reply(200, form, `{"a":2,"b":[1,3]}`), 2},
		{"an item that is missing", reply(200, form, `[1,2]`), reply(200, form, `[1]`), 1},
		{"a text", reply(404, "text/plain", "not found"), reply(404, "text/plain", "nothing"), 1},
		{"one of several type errors", reply(500, form, `{"message":"no: .a: field not declared in schema"}`),
			reply(500, form, `{"message":"no: errors:\n  .a: field not declared in schema\n  .b: expected map"}`), 0},
		{"all type errors", reply(500, form, `{"message":"no: errors:\n  .b: x\n  .a: x"}`), reply(500, form, `{"message":"no: errors:\n  .a: x\n  .b: x"}`), 0},
		{"a type error less", reply(500, form, `{"message":"no: .a: x"}`), reply(500, form, `{"message":"no: errors:\n  .a: x\n  .b: x"}`), 1},
		{"a server that does not answer", Reply{}, reply(200, form, `{}`), 0},
	} {
		if found := Compare(c.there, c.here); len(found) != c.differ {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}
