package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// claim is a kind whose objects have a name and a number.
func claim(t *testing.T) *kind {
	t.Helper()
	version := &pair.Group{
		Version: "example.org/v1", Resources: map[string]string{"Claim": "claims"}, Namespaced: map[string]bool{"Claim": true},
		Schemas: pair.Schemas{"org.example.v1.Claim": {Properties: map[string]*pair.Schema{
			"metadata": {Properties: map[string]*pair.Schema{"labels": {Additional: &pair.Schema{Type: "string"}}}},
			"spec":     {Required: []string{"name"}, Properties: map[string]*pair.Schema{"name": {Type: "string"}, "count": {Type: "integer"}, "tags": {Items: &pair.Schema{Type: "string"}}}},
			"status":   {Properties: map[string]*pair.Schema{"ready": {Type: "boolean"}}},
		}, Kinds: []pair.GVK{{Group: "example.org", Version: "v1", Kind: "Claim"}}}},
	}
	k := &kind{name: "Claim", namespace: "writes-claim", versions: []*pair.Group{version}, subresources: []string{"status", "scale"}, values: map[string][]any{}}
	for _, spec := range []map[string]any{{"name": "a", "count": 1, "tags": []any{"x", "y"}}, {"name": "b"}} {
		k.add(&pair.Base{Kind: "Claim", Object: map[string]any{"apiVersion": "example.org/v1", "kind": "Claim", "metadata": map[string]any{}, "spec": spec}})
	}
	return k
}

// TestEqualObjectsGetEqualWrites checks that a write depends on nothing but the seed, the number, and what a server has stored.
func TestEqualObjectsGetEqualWrites(t *testing.T) {
	h := newHistory(claim(t), 1, 2)
	stored := func(uid string) map[string]any {
		return map[string]any{
			"apiVersion": "example.org/v1", "kind": "Claim",
			"metadata": map[string]any{"name": h.name, "uid": uid, "managedFields": []any{map[string]any{"manager": "alice"}}},
			"spec":     map[string]any{"name": "a", "count": 3},
		}
	}
	ops := map[string]bool{}
	for n := range uint64(2000) {
		write := func(uid string) (string, pair.Request) {
			w := writer{Rand: rand.New(rand.NewPCG(h.seed, n)), history: h, group: h.kind.versions[0], live: stored(uid)}
			return w.write()
		}
		there, sent := write("11111111-1111-1111-1111-111111111111")
		here, also := write("22222222-2222-2222-2222-222222222222")
		ops[there] = true
		if there != here || sent.Path != also.Path || pair.Masked(pair.Text(sent.Body)) != pair.Masked(pair.Text(also.Body)) {
			t.Fatalf("write %d: %s %s %s\nand %s %s %s", n, there, sent.Path, pair.Text(sent.Body), here, also.Path, pair.Text(also.Body))
		}
	}
	for _, op := range strings.Split("apply, update, merge patch, strategic merge patch, json patch, scale apply, status update, odd write, delete", ", ") {
		if !ops[op] {
			t.Errorf("no write is of the kind %q", op)
		}
	}
}

// TestCompare checks what counts as a difference.
func TestCompare(t *testing.T) {
	object := func(uid, version string, generation int) map[string]any {
		return map[string]any{"metadata": map[string]any{"uid": uid, "resourceVersion": version, "generation": generation}}
	}
	done := outcome{answer: pair.Answer{Code: 200, Object: object("a", "2", 1)}, before: object("a", "1", 1), after: object("a", "2", 1)}
	refused := func(message string) outcome {
		return outcome{answer: pair.Answer{Code: 500, Message: message}}
	}
	conflict := func(message string) outcome {
		return outcome{answer: pair.Answer{Code: 409, Reason: "Conflict", Message: message}}
	}
	for _, c := range []struct {
		name        string
		there, here outcome
		want        string
	}{
		{"the same", done, outcome{answer: pair.Answer{Code: 200, Object: object("b", "20", 1)}, before: object("b", "10", 1), after: object("b", "20", 1)}, ""},
		{"a generation", done, outcome{answer: pair.Answer{Code: 200, Object: object("a", "2", 2)}, before: done.before, after: done.after}, "answer.metadata.generation"},
		{"the store", done, outcome{answer: done.answer, before: done.before, after: object("a", "2", 2)}, "stored.metadata.generation"},
		{"the resource version", done, outcome{answer: done.answer, before: done.after, after: done.after}, "moved the resource version"},
		{"a code", done, outcome{answer: pair.Answer{Code: 201, Object: done.answer.Object}, before: done.before, after: done.after}, "200  there, 201  here"},
		{"a message", refused("a"), refused("b"), "the messages differ"},
		{"an order", refused("a, b"), refused("b, a"), "the messages differ"},
		{"an order of conflicts", conflict("a, b"), conflict("b, a"), ""},
		{"another kind of write", outcome{op: "apply"}, outcome{op: "update"}, "the requests differ"},
		{"one of several", refused("no: .a: field not declared in schema"), refused("no: errors:\n  .a: field not declared in schema\n  .b: field not declared in schema"), ""},
	} {
		differences, _ := compare(c.there, c.here)
		if got := strings.Join(differences, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDefinitions checks that equal seeds make equal definitions, and that the objects have only members that their schemas have.
func TestDefinitions(t *testing.T) {
	kinds := map[any]bool{}
	for number := range 200 {
		d := newDefinition(1, number)
		if again := newDefinition(1, number); pair.Text(d.body) != pair.Text(again.body) || pair.Text(d.objects) != pair.Text(again.objects) {
			t.Fatalf("definition %d differs when it is made again", number)
		}
		versions := pair.Get(d.body, "spec", "versions").([]any)
		root := pair.Get(versions[0], "schema", "openAPIV3Schema").(map[string]any)
		for _, object := range d.objects {
			requireDeclared(t, root, object, "")
		}
		places(root, nil, func(p place) {
			if name, ok := p.path[len(p.path)-1].(string); ok && strings.HasPrefix(name, "x-kubernetes-") {
				kinds[name+"="+pair.Text(p.value)] = true
			}
		})
	}
	for _, want := range [...]string{`x-kubernetes-list-type="map"`, `x-kubernetes-list-type="set"`, `x-kubernetes-map-type="atomic"`, "x-kubernetes-embedded-resource=true"} {
		if !kinds[want] {
			t.Errorf("no schema has %s", want)
		}
	}
}

// requireDeclared fails the test if an object has a member that a schema lacks.
func requireDeclared(t *testing.T, schema map[string]any, v any, path string) {
	t.Helper()
	members, _ := v.(map[string]any)
	properties, closed := schema["properties"].(map[string]any)
	for name, member := range members {
		if path == "" && (name == "apiVersion" || name == "kind" || name == "metadata") {
			continue
		}
		if property, ok := properties[name].(map[string]any); ok {
			requireDeclared(t, property, member, path+"."+name)
		} else if closed && schema["x-kubernetes-preserve-unknown-fields"] != true {
			t.Fatalf("the schema lacks %s.%s", path, name)
		}
	}
	items, _ := v.([]any)
	for _, item := range items {
		if of, ok := schema["items"].(map[string]any); ok {
			requireDeclared(t, of, item, path+"[]")
		}
	}
}

// TestHooks calls webhooks of both sides with the same review. They answer alike, and their calls are equal.
func TestHooks(t *testing.T) {
	h := newHooks()
	defer h.Close()
	answers := map[string]bool{}
	for n := range 200 {
		var said [2]string
		for i, side := range [...]string{"there", "here"} {
			review := fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE","object":{"n":%d}}}`, n)
			r, err := h.Client().Post(fmt.Sprintf("%s/%s/Claim/m%d", h.URL, side, n), "application/json", strings.NewReader(review))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			said[i] = fmt.Sprint(r.StatusCode, string(text))
		}
		if said[0] != said[1] {
			t.Errorf("hook %d says %s there, and %s here", n, said[0], said[1])
		}
		answers[said[0]] = true
	}
	there, here := h.take("there", "Claim"), h.take("here", "Claim")
	if len(answers) < 20 || len(there) != 200 || pair.Text(there) != pair.Text(here) || len(h.take("here", "Claim")) != 0 {
		t.Errorf("%d kinds of answers, %d calls there, %d here", len(answers), len(there), len(here))
	}
	for n := range uint64(100) {
		first := newHook(rand.New(rand.NewPCG(n, 0)), claim(t), "Mutating", "m0")
		again := newHook(rand.New(rand.NewPCG(n, 0)), claim(t), "Mutating", "m0")
		if pair.Text(first) != pair.Text(again) {
			t.Errorf("seed %d makes %v, and then %v", n, first, again)
		}
	}
}

// TestEncode checks that a fifth of the bodies is in another form than JSON, if the kind has one.
func TestEncode(t *testing.T) {
	object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	for _, c := range []struct {
		kind, contentType string
		cbor              bool
		want              string // the content type; empty for JSON always
	}{
		{"ConfigMap", "", false, pair.Protobuf}, {"ConfigMap", applyPatch, false, ""}, {"Claim", "", false, ""},
		{"Claim", "", true, pair.CBOR}, {"Claim", applyPatch, true, pair.ApplyCBOR}, {"Claim", mergePatch, true, ""},
	} {
		g := &pair.Group{Version: "v1"}
		h := newHistory(&kind{name: c.kind, versions: []*pair.Group{g}, cbor: c.cbor}, 1, 1)
		w := writer{Rand: rand.New(rand.NewPCG(1, 1)), history: h, group: g}
		encoded := 0
		for range 1000 {
			q := pair.Request{ContentType: c.contentType, Body: object}
			if w.encode(&q); q.ContentType == c.contentType {
				continue
			}
			if encoded++; q.ContentType != c.want {
				t.Fatalf("%s %s is sent as %s", c.kind, c.contentType, q.ContentType)
			}
		}
		if c.want == "" && encoded > 0 || c.want != "" && (encoded < 150 || encoded > 250) {
			t.Errorf("%s %s: %d of 1,000 bodies are in another form", c.kind, c.contentType, encoded)
		}
	}
}

// TestChanges checks that the changes of a history depend on the seed alone, have their marks, leave the first definition as it is, and that
// each kind of change occurs.
func TestChanges(t *testing.T) {
	seen := map[string]int{}
	for number := range 300 {
		d := newDefinition(3, number)
		first := pair.Text(d.body)
		h := newHistory(&kind{name: d.kind, versions: []*pair.Group{{Version: d.group + "/v1"}}, definition: d}, 3, number)
		changes, again := h.changes(), h.changes()
		for n, c := range changes {
			if pair.Text(c.request.Body) != pair.Text(again[n].request.Body) || c.request.Path != again[n].request.Path {
				t.Fatalf("definition %d: the change before write %d is not the same again", number, n)
			}
			if columns := pair.Get(c.versions[0], "additionalPrinterColumns"); c.mark != markOf(map[string]any{"columnDefinitions": columns}) {
				t.Errorf("definition %d: the change %s has the columns %v", number, c.mark, columns)
			}
			seen[c.request.ContentType]++
			seen[fmt.Sprint(len(c.versions), " versions")]++
			for _, v := range c.versions {
				seen[fmt.Sprint(pair.Get(v, "name"), " served ", pair.Get(v, "served"))]++
				seen[fmt.Sprint(pair.Get(v, "name"), " stored ", pair.Get(v, "storage"))]++
			}
		}
		if pair.Text(d.body) != first {
			t.Fatalf("definition %d has changed itself", number)
		}
	}
	for _, what := range []string{applyPatch, mergePatch, jsonPatch, "1 versions", "2 versions", "v1 stored false", "v1beta1 stored true", "v1beta1 served false", "v2 served true"} {
		if seen[what] == 0 {
			t.Errorf("no change has %q: %v", what, seen)
		}
	}
	if h := newHistory(&kind{versions: []*pair.Group{{}}}, 3, 1); len(h.changes()) > 0 {
		t.Error("a history of a built-in kind changes a definition")
	}
}

// TestConverters checks that a converter answers with as many objects as it gets, in the wanted version, and always the same, and that wrong
// answers come only when an object is to be stored.
func TestConverters(t *testing.T) {
	c := newConverters()
	defer c.Close()
	wrong := map[string]int{}
	for n := range 2000 {
		desired := []string{"example.org/v1", "example.org/v1beta1"}[n%2]
		objects := []any{map[string]any{
			"apiVersion": "example.org/other", "kind": "T", "metadata": map[string]any{"name": "a", "uid": "u"}, "spec": map[string]any{"a": n, "replicas": 1},
		}}
		review := map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
			"request": map[string]any{"uid": "1", "desiredAPIVersion": desired, "objects": objects},
		}
		answers := [2]string{}
		for i := range answers {
			r := httptest.NewRequest(http.MethodPost, fmt.Sprintf("/T%d", n%40), strings.NewReader(pair.Text(review)))
			w := httptest.NewRecorder()
			c.ServeHTTP(w, r)
			answers[i] = w.Body.String()
		}
		if answers[0] != answers[1] {
			t.Fatalf("%s, and then %s", answers[0], answers[1])
		}
		answer, err := pair.DecodeJSON([]byte(answers[0]))
		converted, _ := pair.Get(answer, "response", "convertedObjects").([]any)
		if err != nil || len(converted) != 1 || pair.Get(converted[0], "apiVersion") != desired || pair.Get(answer, "response", "uid") != "1" ||
			pair.Get(answer, "response", "result", "status") != "Success" {
			wrong[desired]++
		}
	}
	if wrong["example.org/v1"] == 0 || wrong["example.org/v1beta1"] > 0 {
		t.Errorf("wrong answers: %v", wrong)
	}
}

// TestGuards checks that what guards a namespace depends on the random numbers alone, and that each level occurs.
func TestGuards(t *testing.T) {
	seen := map[any]bool{}
	for n := range uint64(100) {
		one, two := rand.New(rand.NewPCG(1, n)), rand.New(rand.NewPCG(1, n))
		labels := guarded(one)
		if pair.Text(labels) != pair.Text(guarded(two)) || pair.Text(limits(one)) != pair.Text(limits(two)) {
			t.Fatalf("%d: not the same again", n)
		}
		for _, level := range labels {
			seen[level] = true
		}
	}
	for _, level := range []string{"privileged", "baseline", "restricted", "latest", "v1.20"} {
		if !seen[level] {
			t.Errorf("no namespace has %s", level)
		}
	}
}
