package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestHostile sends bodies that are made to cost more than they should: each is answered with one clear Status, and the next
// request as if nothing had happened.
func TestHostile(t *testing.T) {
	s := servertest.Widgets(t)
	if w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	const (
		maps = servertest.Core + "namespaces/default/configmaps"
		yaml = " Content-Type=application/yaml"
	)
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	deep := nested(`{"a":`, "1", "}", 300_000)
	deepSpec := `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"deep"},"spec":` +
		nested("[", "", "]", 300_000) + "}"
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 20 {
		b := "*a" + string(rune('a'+i))
		if i == 0 {
			b = "*a0"
		}
		bomb.WriteString("a" + string(rune('b'+i)) + ": &a" + string(rune('b'+i)) + " [" + strings.Repeat(b+",", 9) + b + "]\n")
	}
	operation := `{"op":"test","path":"/kind","value":"Widget"}`
	const tooLarge = "Request entity too large: limit is 3145728"
	for _, c := range []struct {
		name, request, body string
		code                int
		want                string
	}{
		{"deep JSON", "POST " + servertest.Things + servertest.JSON, deep, 400, ""},
		{"deep JSON of a built-in kind", "POST " + maps + servertest.JSON, deep, 400, ""},
		{"a deep field", "POST " + servertest.Things + servertest.JSON, deepSpec, 400, ""},
		{"deep YAML", "POST " + servertest.Things + yaml, nested("[", "", "]", 300_000), 400, ""},
		{"deep YAML of a built-in kind", "POST " + maps + yaml, nested("[", "", "]", 300_000), 400, ""},
		{"aliases of aliases", "POST " + servertest.Things + yaml, bomb.String(), 400, ""},
		{"aliases of aliases of a built-in kind", "POST " + maps + yaml, bomb.String(), 400, ""},
		{"an apply of aliases", "PATCH " + servertest.Things + "/web?fieldManager=m" + servertest.ApplyPatch, bomb.String(), 400, ""},
		{"a deep apply", "PATCH " + servertest.Things + "/web?fieldManager=m" + servertest.ApplyPatch, deep, 400, ""},
		{"a deep merge patch", "PATCH " + servertest.Things + "/web" + servertest.MergePatch, deep, 400, ""},
		{"a deep merge patch of a built-in kind", "PATCH " + servertest.Core + "namespaces/default" + servertest.MergePatch, deep, 400, ""},
		{
			"a JSON patch of too many operations", "PATCH " + servertest.Things + "/web" + servertest.JSONPatch,
			"[" + strings.Repeat(operation+",", 10_000) + operation + "]", 413, "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
		},
		{"a body that is too large", "POST " + maps + servertest.JSON, strings.Repeat(" ", 3<<20+1), 413, tooLarge},
		{"a patch that is too large", "PATCH " + servertest.Things + "/web" + servertest.MergePatch, strings.Repeat(" ", 3<<20+1), 413, tooLarge},
		{"options that are too large", "DELETE " + servertest.Things + "/web", strings.Repeat(" ", 3<<20+1), 413, tooLarge},
		{"3 MiB of nothing", "POST " + servertest.Things + servertest.JSON, strings.Repeat(" ", 3<<20), 400, ""},
		{"3 MiB of quotes", "POST " + maps + servertest.JSON, strings.Repeat(`"`, 3<<20), 400, ""},
		{"a deep selector", "GET " + servertest.Things + "?labelSelector=" + strings.Repeat("a,", 100_000) + "(", "", 400, ""},
	} {
		w := servertest.Ask(s, c.request, c.body)
		message := servertest.Message(w)
		if w.Code != c.code || message == "" || strings.HasPrefix(message, "text") || !strings.HasPrefix(message, c.want) {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, w.Code, w.Body, c.code, c.want)
		}
		if len(message) > 4<<20 {
			t.Errorf("%s: a message of %d bytes", c.name, len(message))
		}
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+"/web", ""); w.Code != http.StatusOK {
		t.Errorf("after all of this: %d %s", w.Code, w.Body)
	}
}

// TestCostlyRule creates and updates an object for which a rule costs more than rules may, whose definition says that it has few enough
// items: the rule ends early, with one clear Status, and others are not asked any more.
func TestCostlyRule(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the rule takes a minute with the race detector, and one goroutine evaluates it")
	}
	s := servertest.Widgets(t)
	const costly = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"squares.example.org"},"spec":{
		"group":"example.org","scope":"Namespaced","names":{"plural":"squares","kind":"Square"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"n":{"type":"integer"},"l":{"type":"array","maxItems":1000,"items":{"type":"integer"}}},
			"x-kubernetes-validations":[{"rule":"self.l.all(x, self.l.all(y, x + y >= 0))"},{"rule":"self.n > 0"}]}}}}}]}}`
	if w := servertest.Ask(s, "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", costly); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	square := func(items int) string {
		list := strings.TrimSuffix(strings.Repeat("1,", items), ",")
		return `{"apiVersion":"example.org/v1","kind":"Square","metadata":{"name":"a"},"spec":{"n":1,"l":[` + list + `]}}`
	}
	const (
		path = servertest.Group + "namespaces/default/squares"
		want = `Square.example.org "a" is invalid: spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further ` +
			`validation rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x + y >= 0))`
	)
	check := func(request, body string) {
		t.Helper()
		if w := servertest.Ask(s, request, body); w.Code != http.StatusUnprocessableEntity || servertest.Message(w) != want {
			t.Errorf("%s: %d %s, want %s", request, w.Code, servertest.Message(w), want)
		}
	}
	check("POST "+path+servertest.JSON, square(1000))
	if w := servertest.Ask(s, "POST "+path+servertest.JSON, square(10)); w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := servertest.Ask(s, "PATCH "+path+"/a"+servertest.MergePatch, `{"spec":{"n":2}}`); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	check("PATCH "+path+"/a?fieldManager=m&force=true"+servertest.ApplyPatch, square(1000))
}
