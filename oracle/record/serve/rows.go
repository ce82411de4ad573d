package main

import (
	_ "embed"
	"fmt"
	"net/http"
	"strings"
)

// row is a kind of request. Bars are how many times less CPU deed is to spend: at least, and what it aims at.
type row struct {
	name       string
	least, aim float64
	request    func(n int) request // the n-th one
}

const (
	group      = "/apis/load.example.org/v1"
	collection = group + "/namespaces/default/apps"
	applied    = "application/apply-patch+yaml"
	merged     = "application/merge-patch+json"
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

//go:embed apps.json
var definition []byte

// app returns an object of about 2 kB.
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
	return fmt.Appendf(nil, `{"apiVersion":"load.example.org/v1","kind":"App","metadata":{"name":%q,"namespace":"default","labels":{"app":%q}},
		"spec":{"replicas":%d,"selector":{"app":%q},"template":{"labels":{"app":%q},"containers":[%s]}}}`,
		name, label, replicas, name, name, strings.Join(containers, ","))
}

func createApp(name, label string) request {
	return request{http.MethodPost, collection + "?fieldManager=load", "application/json", "", app(name, 1, label), http.StatusCreated}
}

func applyApp(name, manager string, replicas, code int, options string) request {
	path := collection + "/" + name + "?fieldManager=" + manager + options
	return request{http.MethodPatch, path, applied, "", app(name, replicas, "one"), code}
}

// rows are those of single objects; one is the name of an object that manager a applied.
var rows = []row{
	{"apply", 15, 50, func(n int) request { return applyApp("one", "a", 2+n%2, 200, "") }},
	{"apply, no change", 15, 50, func(int) request { return applyApp("same", "a", 1, 200, "") }},
	{"apply, dry run", 15, 50, func(n int) request { return applyApp("same", "a", 2+n%2, 200, "&dryRun=All") }},
	{"apply, conflict", 10, 20, func(int) request { return applyApp("same", "b", 7, 409, "") }},
	{"merge patch", 15, 50, func(n int) request {
		body := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, 2+n%2)
		return request{http.MethodPatch, collection + "/patched?fieldManager=load", merged, "", body, 200}
	}},
	{"get", 15, 30, func(int) request { return request{http.MethodGet, collection + "/same", "", "", nil, 200} }},
	{"create", 15, 40, func(n int) request { return createApp(fmt.Sprintf("new-%d", n), "new") }},
	{"delete", 40, 100, func(n int) request {
		return request{http.MethodDelete, fmt.Sprintf("%s/new-%d", collection, n), "", "", nil, 200}
	}},
	{"list", 40, 80, func(int) request { return request{http.MethodGet, collection, "", "", nil, 200} }},
	{"list, 500 of it", 40, 80, func(int) request { return request{http.MethodGet, collection + "?limit=500", "", "", nil, 200} }},
	{"list as Table", 40, 80, func(int) request { return request{http.MethodGet, collection + "?limit=500", "", asTable, nil, 200} }},
	{"selector of 1 %", 20, 40, func(int) request {
		return request{http.MethodGet, collection + "?labelSelector=app%3Dl7", "", "", nil, 200}
	}},
}
