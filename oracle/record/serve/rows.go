package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// row is a kind of request. Bars are how many times less CPU deed is to spend than the peer: at least, and what it aims at.
type row struct {
	name       string
	least, aim float64
	beside     float64 // how many times the CPU of the floor deed may spend with several workers; 0 for a row without that bar
	// request returns a worker's n-th request of the row.
	request func(w *worker, n int) request
}

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	group       = "/apis/load.example.org/v1"
	collection  = group + "/namespaces/default/apps"
	applied     = "application/apply-patch+yaml"
	merged      = "application/merge-patch+json"
	asTable     = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

//go:embed apps.json
var definition []byte

// app returns an object of about 2 kB, as clients send it: JSON without white space.
func app(name string, replicas int, label string) []byte {
	var containers []string
	for c := range 3 {
		var env []string
		for e := range 6 {
			env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%d","value":"the value of variable %d of container %d"}`, e, e, c))
		}
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"registry.example.org/team/app-%d:1.2.3","args":["--verbose","--port=80%d"],
			"env":[%s],"ports":[{"containerPort":80%d,"protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}`,
			c, c, c, strings.Join(env, ","), c))
	}
	text := fmt.Appendf(nil, `{"apiVersion":"load.example.org/v1","kind":"App","metadata":{"name":%q,"namespace":"default","labels":{"app":%q}},
		"spec":{"replicas":%d,"selector":{"app":%q},"template":{"labels":{"app":%q},"containers":[%s]}}}`,
		name, label, replicas, name, name, strings.Join(containers, ","))
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		panic(err) // it is JSON
	}
	return compact.Bytes()
}

func createApp(name, label string) request {
	return request{http.MethodPost, collection + "?fieldManager=load", "application/json", "", app(name, 1, label), http.StatusCreated}
}

func applyApp(name, manager string, replicas, code int, options string) request {
	path := collection + "/" + name + "?fieldManager=" + manager + options
	return request{http.MethodPatch, path, applied, "", app(name, replicas, "one"), code}
}

// updateApp replaces an object by another state of it, given its resource version.
func updateApp(name string, n int, version string) request {
	body := bytes.Replace(app(name, 2+n%2, "one"), []byte(`"metadata":{`), fmt.Appendf(nil, `"metadata":{"resourceVersion":%q,`, version), 1)
	return request{http.MethodPut, collection + "/" + name + "?fieldManager=load", "application/json", "", body, http.StatusOK}
}

func get(path, accept string) request {
	return request{http.MethodGet, path, "", accept, nil, http.StatusOK}
}

// The rows whose requests depend on each other.
const (
	updates = "update"
	creates = "create"
	deletes = "delete"
	pages   = "list, pages of 500"
)

// rows are those of objects that each worker has for itself, and those of lists.
var rows = []row{
	{name: "apply", least: 15, aim: 50, beside: 1.6, request: func(w *worker, n int) request { return applyApp(w.object(changed), "a", 2+n%2, 200, "") }},
	{name: "apply, no change", least: 15, aim: 50, request: func(w *worker, _ int) request { return applyApp(w.object(same), "a", 1, 200, "") }},
	{name: "apply, dry run", least: 15, aim: 50, request: func(w *worker, n int) request {
		return applyApp(w.object(same), "a", 2+n%2, 200, "&dryRun=All")
	}},
	{name: "apply, conflict", least: 10, aim: 20, request: func(w *worker, _ int) request { return applyApp(w.object(same), "b", 7, 409, "") }},
	{name: "merge patch", least: 15, aim: 50, request: func(w *worker, n int) request {
		body := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, 2+n%2)
		return request{http.MethodPatch, collection + "/" + w.object(patched) + "?fieldManager=load", merged, "", body, 200}
	}},
	{name: updates, least: 15, aim: 50, beside: 1.8, request: func(w *worker, n int) request { return updateApp(w.object(updated), n, w.version) }},
	{name: "get", least: 15, aim: 30, beside: 1.2, request: func(w *worker, _ int) request { return get(collection+"/"+w.object(same), "") }},
	{name: creates, least: 15, aim: 40, beside: 2.5, request: func(w *worker, n int) request { return createApp(w.object(fmt.Sprint(n)), "new") }},
	{name: deletes, least: 40, aim: 100, beside: 1.7, request: func(w *worker, n int) request {
		return request{http.MethodDelete, collection + "/" + w.object(fmt.Sprint(n)), "", "", nil, 200}
	}},
	{name: "list", least: 40, aim: 80, request: func(*worker, int) request { return get(collection, "") }},
	{name: "list, 500 of it", least: 40, aim: 80, request: func(*worker, int) request { return get(collection+"?limit=500", "") }},
	{name: pages, least: 40, aim: 80, beside: 1.3, request: func(w *worker, _ int) request {
		return get(collection+"?limit=500&continue="+url.QueryEscape(w.next), "")
	}},
	{name: "list as Table", least: 40, aim: 80, request: func(*worker, int) request { return get(collection+"?limit=500", asTable) }},
	{name: "selector of 1 %", least: 20, aim: 40, request: func(*worker, int) request { return get(collection+"?labelSelector=app%3Dl7", "") }},
}

// rowOf returns the row of a name.
func rowOf(name string) row {
	return rows[slices.IndexFunc(rows, func(r row) bool { return r.name == name })]
}
