package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// row is a kind of request. Bars are how many times less CPU deed is to spend: at least, and what it aims at.
type row struct {
	name       string
	least, aim float64
	// request returns the n-th request, given the resource version that the row's object has by then.
	request func(n int, version string) request
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

// updated is the name of the object that updateApp updates.
const updated = "updated"

// updateApp replaces an object by another state of it, given its resource version.
func updateApp(n int, version string) request {
	body := bytes.Replace(app(updated, 2+n%2, "one"), []byte(`"metadata":{`), fmt.Appendf(nil, `"metadata":{"resourceVersion":%q,`, version), 1)
	return request{http.MethodPut, collection + "/" + updated + "?fieldManager=load", "application/json", "", body, http.StatusOK}
}

// rows are those of single objects; one is the name of an object that manager a applied.
var rows = []row{
	{name: "apply", least: 15, aim: 50, request: func(n int, _ string) request { return applyApp("one", "a", 2+n%2, 200, "") }},
	{name: "apply, no change", least: 15, aim: 50, request: func(int, string) request { return applyApp("same", "a", 1, 200, "") }},
	{name: "apply, dry run", least: 15, aim: 50, request: func(n int, _ string) request { return applyApp("same", "a", 2+n%2, 200, "&dryRun=All") }},
	{name: "apply, conflict", least: 10, aim: 20, request: func(int, string) request { return applyApp("same", "b", 7, 409, "") }},
	{name: "merge patch", least: 15, aim: 50, request: func(n int, _ string) request {
		body := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, 2+n%2)
		return request{http.MethodPatch, collection + "/patched?fieldManager=load", merged, "", body, 200}
	}},
	{name: "update", least: 15, aim: 50, request: updateApp},
	{name: "get", least: 15, aim: 30, request: func(int, string) request { return request{http.MethodGet, collection + "/same", "", "", nil, 200} }},
	{name: "create", least: 15, aim: 40, request: func(n int, _ string) request { return createApp(fmt.Sprintf("new-%d", n), "new") }},
	{name: "delete", least: 40, aim: 100, request: func(n int, _ string) request {
		return request{http.MethodDelete, fmt.Sprintf("%s/new-%d", collection, n), "", "", nil, 200}
	}},
	{name: "list", least: 40, aim: 80, request: func(int, string) request { return request{http.MethodGet, collection, "", "", nil, 200} }},
	{name: "list, 500 of it", least: 40, aim: 80, request: func(int, string) request { return request{http.MethodGet, collection + "?limit=500", "", "", nil, 200} }},
	{name: "list as Table", least: 40, aim: 80, request: func(int, string) request {
		return request{http.MethodGet, collection + "?limit=500", "", asTable, nil, 200}
	}},
	{name: "selector of 1 %", least: 20, aim: 40, request: func(int, string) request {
		return request{http.MethodGet, collection + "?labelSelector=app%3Dl7", "", "", nil, 200}
	}},
}
