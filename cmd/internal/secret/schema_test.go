package secret

import (
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPasswords shows objects with secrets by definitions and OpenAPI documents, including recursive schemas and schemas of several
// versions.
func TestPasswords(t *testing.T) {
	const kind = `"apiVersion":"example.com/v1","kind":"K"`
	const password = `{"type":"string","format":"password"}`
	crd := func(schemas ...string) string {
		text := ""
		for i, s := range schemas {
			if i > 0 {
				text += ","
			}
			text += `{"name":"v1","schema":{"openAPIV3Schema":` + s + `}}`
		}
		return `{"kind":"CustomResourceDefinition","spec":{"group":"example.com","names":{"kind":"K"},"versions":[` + text + `]}}`
	}
	openAPI := func(schemas string) string {
		return `{"components":{"schemas":{` + schemas + `}}}`
	}
	const gvk = `"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"K"}]`
	for _, c := range []struct{ name, definition, object, want string }{
		{"a field", crd(`{"properties":{"a":` + password + `,"b":{"type":"string"}}}`), `{"a":"x","b":"y"}`, `{"a":"***","b":"y"}`},
		{"a map", crd(`{"properties":{"a":{"additionalProperties":` + password + `}}}`), `{"a":{"x":"x"}}`, `{"a":{"x":"***"}}`},
		{"a name in front of a map", crd(`{"properties":{"b":{"type":"string"}},"additionalProperties":` + password + `}`), `{"a":"x","b":"y"}`, `{"a":"***","b":"y"}`},
		{"a list", crd(`{"properties":{"a":{"items":{"properties":{"b":` + password + `}}}}}`), `{"a":[{"b":"x","c":1},{"c":2}]}`, `{"a":[{"b":"***","c":1},{"c":2}]}`},
		{"a scalar for a list", crd(`{"properties":{"a":{"items":` + password + `}}}`), `{"a":"x"}`, `{"a":"***"}`},
		{"a list for an object", crd(`{"properties":{"a":{"properties":{"b":` + password + `}}}}`), `{"a":["x"]}`, `{"a":"***"}`},
		{"null", crd(`{"properties":{"a":{"items":` + password + `}}}`), `{"a":null}`, `{"a":null}`},
		{"alternatives", crd(`{"anyOf":[{"properties":{"a":` + password + `}},{"oneOf":[{"properties":{"b":` + password + `}}]}]}`),
			`{"a":"x","b":"y","c":"z"}`, `{"a":"***","b":"***","c":"z"}`},
		{"versions", crd(`{"properties":{"a":`+password+`,"c":{"properties":{"d":{}}}}}`, `{"properties":{"a":{},"b":`+password+`,"c":{"properties":{"d":`+password+`}}}}`),
			`{"a":"x","b":"y","c":{"d":"z","e":1}}`, `{"a":"***","b":"***","c":{"d":"***","e":1}}`},
		{"nothing", crd(`{"properties":{"a":{"type":"string"}}}`), `{"a":"x","metadata":{"annotations":{"` + lastApplied + `":"x"}}}`, ``},
		{"the record", crd(`{"properties":{"a":` + password + `}}`), `{"metadata":{"annotations":{"` + lastApplied + `":"x","b":"y"}}}`,
			`{"metadata":{"annotations":{"b":"y","` + lastApplied + `":"***"}}}`},
		{"a reference", openAPI(`"K":{` + gvk + `,"properties":{"a":{"$ref":"#/components/schemas/a~1b~0"}}},"a/b~":` + password), `{"a":"x"}`, `{"a":"***"}`},
		{"to itself", openAPI(`"K":{` + gvk + `,"properties":{"next":{"allOf":[{"$ref":"#/components/schemas/K"}]},"a":` + password + `}}`),
			`{"a":"x","next":{"a":"x","next":{"a":"x","b":1}}}`, `{"a":"***","next":{"a":"***","next":{"a":"***","b":1}}}`},
		{"to itself alone", openAPI(`"K":{` + gvk + `,"allOf":[{"$ref":"#/components/schemas/K"}]}`), `{"a":"x"}`, ``},
	} {
		var r Rules
		r.Learn(parsed(t, c.definition))
		r.LearnOpenAPI(parsed(t, c.definition))
		if c.want == "" {
			c.want = c.object
		}
		object := parsed(t, `{`+kind+`,`+c.object[1:])
		got := string(r.View(object).Value(nil, parsed(t, c.object)).AppendJSON(nil))
		if got != string(parsed(t, c.want).AppendJSON(nil)) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		for name := range parsed(t, c.object).Members() {
			path := fieldpath.Path{fieldpath.Field(name)}
			v := parsed(t, c.object).Get(name)
			if got, want := string(r.View(object).Value(path, v).AppendJSON(nil)), string(parsed(t, c.want).Get(name).AppendJSON(nil)); got != want {
				t.Errorf("%s: %s is shown as %s, want %s", c.name, name, got, want)
			}
		}
	}
}

// TestLateDefinitions checks that a definition applies to objects that are viewed after it, even if others of their kind were viewed
// before. It also checks definitions of version 2 of OpenAPI.
func TestLateDefinitions(t *testing.T) {
	definition := func(format string) value.Value {
		return parsed(t, `{"definitions":{"K":{"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"K"}],
			"properties":{"a":{"type":"string","format":"`+format+`"}}}}}`)
	}
	object := parsed(t, `{"apiVersion":"v1","kind":"K","a":"x"}`)
	var r Rules
	for _, c := range []struct{ format, want string }{{"byte", `"x"`}, {"password", masked}, {"date", masked}, {"password", masked}} {
		r.LearnOpenAPI(definition(c.format))
		if got := r.View(object).Value(pathOf(t, ".a"), value.String("x")).String(); got != c.want {
			t.Errorf("after a definition of format %s it is shown as %s, want %s", c.format, got, c.want)
		}
	}
	var none *Rules
	none.LearnOpenAPI(definition("password"))
	none.Learn(parsed(t, `{"kind":"CustomResourceDefinition","spec":{"group":"","names":{"kind":"K"},"versions":[{"schema":{}}]}}`))
	if none.View(object).Hides() || !none.View(parsed(t, aSecret)).Hides() {
		t.Error("no rules hide more or less than Secrets")
	}
}
