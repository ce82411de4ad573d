package server_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// cogs is a definition with something of all that definitions may have.
const cogs = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"cogs.zz.org"},"spec":{
	"group":"zz.org","scope":"Namespaced","conversion":{"strategy":"None"},
	"names":{"plural":"cogs","singular":"cog","kind":"Cog","shortNames":["cg"],"categories":["all"]},
	"versions":[{"name":"v1","served":true,"storage":true,
		"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},
		"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":".spec.a","priority":1}],"selectableFields":[{"jsonPath":".spec.a"}],
		"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","required":["a"],"x-kubernetes-validations":[{"rule":"self.a != 'x'","message":"no x"}],"properties":{
				"a":{"type":"string","maxLength":10,"enum":["x","y"],"default":"y"},
				"replicas":{"type":"integer","format":"int32","minimum":0},
				"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
					"properties":{"k":{"type":"string"},"v":{"x-kubernetes-int-or-string":true}}}},
				"m":{"type":"object","additionalProperties":{"type":"string"}},
				"p":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
				"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}},
			"status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}},
		{"name":"v1beta1","served":true,"storage":false,"deprecated":true,
			"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// What definitions are changed to have.
var (
	oddMembers = []string{
		"nullable", "format", "pattern", "minimum", "maximum", "minLength", "maxItems", "minProperties", "maxProperties", "uniqueItems", "default",
		"oneOf", "anyOf", "not", "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-validations", "description", "example",
		"externalDocs", "id", "$ref", "definitions", "unknown", "deprecationWarning", "listKind", "preserveUnknownFields", "webhook",
		"labelSelectorPath", "type", "additionalProperties", "properties", "items", "messageExpression", "reason", "fieldPath", "optionalOldSelf",
	}
	oddWords = []string{
		"object", "array", "string", "integer", "number", "boolean", "map", "set", "atomic", "date-time", "Webhook", ".spec.b", ".spec.replicas",
		"v2", "v1beta1", "self.a == oldSelf.a", "bad rule(", "Cluster", "cogs", "Cog", strings.Repeat("a", 64),
	}
)

// redefined returns part of a definition with one random change.
func (g *generator) redefined(v any, depth int) any {
	odd := func() any {
		if g.IntN(2) == 0 {
			return g.odd()
		}
		return pick(g, oddWords)
	}
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 || g.IntN(9) == 0 {
			v[pick(g, oddMembers)] = odd()
			return v
		}
		name := pick(g, names)
		switch n := g.IntN(12); {
		case n == 0 && depth > 1:
			delete(v, name)
		case n == 1 && depth > 1:
			v[name] = odd()
		default:
			v[name] = g.redefined(v[name], depth+1)
		}
		return v
	case []any:
		if len(v) == 0 || g.IntN(8) == 0 {
			return append(v, odd())
		}
		switch i := g.IntN(len(v)); g.IntN(11) {
		case 0:
			return append(v, v[i])
		case 1:
			return append(v[:i:i], v[i+1:]...)
		default:
			v[i] = g.redefined(v[i], depth+1)
			return v
		}
	}
	return odd()
}

// definition returns a request that creates a definition, or changes that of cogs, and stores nothing.
func (g *generator) definition() (line, body string) {
	const all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	var d any
	if err := json.Unmarshal([]byte(cogs), &d); err != nil {
		panic(err) // it is JSON
	}
	for range 1 + g.IntN(3) {
		d = g.redefined(d, 0)
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // it was JSON
	}
	options := "?dryRun=All&fieldManager=m" + pick(g, []string{"", "&fieldValidation=Strict", "&fieldValidation=Ignore"})
	switch g.IntN(4) {
	case 0:
		return "POST " + all + options + servertest.JSON, strings.ReplaceAll(string(text), "zz.org", "yy.org")
	case 1:
		options += "&force=true" + servertest.ApplyPatch
	case 2:
		options += servertest.MergePatch
	default:
		options += " Content-Type=application/strategic-merge-patch+json"
	}
	return "PATCH " + all + "/cogs.zz.org" + options, string(text)
}

// TestRandomDefinitions writes definitions in most of which something is odd. Whatever is sent, the server answers with a document, and
// nothing panics. DEED_SEED makes it other definitions. With DEED_PEER a kube-apiserver is sent the same, and what it answers otherwise is
// printed.
func TestRandomDefinitions(t *testing.T) {
	seed := seeds.First(t)
	n := 2500
	if testing.Short() {
		n = 250
	}
	s, peer := servertest.New(t, server.Config{Authenticate: asAdmin}), os.Getenv("DEED_PEER")
	g := &generator{Rand: seeds.Stream(seed, 0)}
	create := func(ask func(request, body string) *httptest.ResponseRecorder) {
		for begun := time.Now(); ; time.Sleep(time.Second) {
			w := ask("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions"+servertest.JSON, cogs)
			if w.Code == http.StatusCreated {
				return
			}
			if time.Since(begun) > 30*time.Second {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
	}
	create(func(request, body string) *httptest.ResponseRecorder { return servertest.Ask(s, request, body) })
	if peer != "" {
		askPeer(t, peer, "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/cogs.zz.org", "")
		create(func(request, body string) *httptest.ResponseRecorder { return askPeer(t, peer, request, body) })
		time.Sleep(5 * time.Second) // until it is established
	}
	codes := map[int]int{}
	for range n {
		line, body := g.definition()
		here := servertest.Ask(s, line, body)
		codes[here.Code]++
		if problem := unsound(here); problem != "" {
			t.Errorf("%s\n   < %s\n%s: %d %.500s", line, body, problem, here.Code, here.Body)
		}
		if peer == "" {
			continue
		}
		if there := askPeer(t, peer, line, body); alike(here) != alike(there) {
			t.Logf("%s\n   < %s\n here %.2000s\nthere %.2000s", line, body, answerLine(here), answerLine(there))
		}
	}
	if codes[http.StatusOK] < n/20 || codes[http.StatusUnprocessableEntity] < n/5 || codes[http.StatusBadRequest] < n/5 {
		t.Errorf("the answers are of few sorts: %v", codes)
	}
}
