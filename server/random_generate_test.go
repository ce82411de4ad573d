package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/deed-project/deed/server/internal/servertest"
)

// randomRequest is a request in the words of ask, about an object of a resource.
type randomRequest struct{ line, body, plural, object string }

// generator makes random requests.
type generator struct {
	*rand.Rand
	namespace string
}

// The parts that requests are made of, and what is odd in them.
var (
	oddValues = []string{"null", "true", "1", "-1", "1.5", `""`, `"é<&>"`, "[]", "{}", "[null]", `{"q":1}`,
		"1000000000000", `"2020-01-01T00:00:00Z"`}
	oddMetadata = []string{
		`"labels":{"l":"1"}`, `"labels":{"bad key":"v"}`, `"annotations":{"n":"x"}`, `"finalizers":["a.b/c"]`, `"finalizers":["nodomain"]`,
		`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u"}]`, `"generateName":"g-"`, `"uid":"u"`,
		`"resourceVersion":"5"`, `"namespace":"other"`, `"generation":7`, `"deletionTimestamp":"2020-01-01T00:00:00Z"`, `"managedFields":[]`,
	}
	oddOptions = []string{
		"fieldManager=m", "fieldManager=n", "fieldValidation=Strict", "fieldValidation=Ignore", "fieldValidation=x", "dryRun=All",
		"dryRun=x", "pretty=1",
	}
	oddDeletes = []string{
		"", "", "dryRun=All", "propagationPolicy=Foreground", "propagationPolicy=Orphan", "propagationPolicy=x",
		"gracePeriodSeconds=0", "gracePeriodSeconds=x",
	}
	oddReads = []string{
		"", "limit=2", "limit=x", "labelSelector=l%3D1", "labelSelector=%3D%3D", "fieldSelector=metadata.name%3Da", "fieldSelector=spec.x%3Da",
		"resourceVersion=0", "resourceVersion=x", "resourceVersionMatch=Exact",
	}
	oddAccepts = []string{
		"application/json", "application/yaml", "text/csv", "application/json;as=Table;g=meta.k8s.io;v=v1",
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
	}
	oddOperations = []string{"add", "replace", "remove", "test", "copy", "move", "x"}
)

func pick[T any](g *generator, from []T) T { return from[g.IntN(len(from))] }

// request returns the next one.
func (g *generator) request() randomRequest {
	resources := make([]string, 0, len(randomKinds))
	for resource := range randomKinds {
		resources = append(resources, resource)
	}
	slices.Sort(resources)
	resource := pick(g, resources)
	at := strings.LastIndexByte(resource, '/')
	q := randomRequest{plural: resource[at+1:]}
	all := resource[:at] + "/namespaces/" + g.namespace + "/" + q.plural
	name := pick(g, []string{"a", "b"})
	q.object = all + "/" + name
	content := g.object(randomKinds[resource], name)
	apiVersion := strings.Trim(strings.TrimPrefix(strings.TrimPrefix(resource[:at], "/apis"), "/api"), "/")
	typed := strings.Replace(content, "{", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, apiVersion, kindNames[q.plural]), 1)
	switch g.IntN(10) {
	case 0, 1:
		q.line, q.body = "POST "+all+g.options()+servertest.JSON, typed
	case 2:
		q.line, q.body = "PUT "+q.object+g.options()+servertest.JSON, typed
	case 3, 4:
		q.line, q.body = "PATCH "+q.object+g.options("force=true", "force=true", "")+servertest.ApplyPatch, typed
	case 5:
		q.line, q.body = "PATCH "+q.object+g.options()+pick(g, []string{servertest.MergePatch, " Content-Type=application/strategic-merge-patch+json"}), content
	case 6:
		q.line = "PATCH " + q.object + g.options() + servertest.JSONPatch
		q.body = fmt.Sprintf(`[{"op":%q,"path":%q,"from":"/metadata/name","value":%s}]`, pick(g, oddOperations),
			pick(g, []string{"/data", "/spec", "/spec/replicas", "/metadata/labels", "/metadata/name", "/kind", "/"}), pick(g, oddValues))
	case 7, 8:
		path := pick(g, []string{q.object, q.object + "/status", q.object + "/scale", all + "?" + pick(g, oddReads)})
		q.line = "GET " + path + " Accept=" + pick(g, oddAccepts)
	default:
		q.line = "DELETE " + pick(g, []string{q.object, q.object, q.object, all}) + "?" + pick(g, oddDeletes)
	}
	return q
}

// options returns a query, with one of more in it.
func (g *generator) options(more ...string) string {
	var out []string
	for g.IntN(3) == 0 {
		out = append(out, pick(g, oddOptions))
	}
	if len(more) > 0 {
		out = append(out, "fieldManager=m", pick(g, more))
	}
	return "?" + strings.Join(out, "&")
}

// object returns an object with a name, with something odd in it or not.
func (g *generator) object(text, name string) string {
	metadata := fmt.Sprintf(`"metadata":{"name":%q`, name)
	if g.IntN(3) == 0 {
		metadata += "," + pick(g, oddMetadata)
	}
	var document any
	if err := json.Unmarshal([]byte("{"+metadata+"},"+text[1:]), &document); err != nil {
		panic(err) // the parts are JSON
	}
	for g.IntN(2) == 0 {
		document = g.changed(document)
	}
	changed, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return string(changed)
}

// changed returns a document in which one value is another, gone, or has another beside it.
func (g *generator) changed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		switch {
		case len(names) == 0 || g.IntN(8) == 0:
			v[fmt.Sprint("unknown", g.IntN(3))] = g.odd()
		case g.IntN(8) == 0:
			delete(v, pick(g, names))
		default:
			name := pick(g, names)
			v[name] = g.changed(v[name])
		}
		return v
	case []any:
		if len(v) == 0 || g.IntN(4) == 0 {
			return append(v, g.odd())
		}
		i := g.IntN(len(v))
		v[i] = g.changed(v[i])
		return v
	}
	return g.odd()
}

func (g *generator) odd() (v any) {
	if err := json.Unmarshal([]byte(pick(g, oddValues)), &v); err != nil {
		panic(err) // it is JSON
	}
	return v
}
