package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/deed-project/deed/oracle/pair"
)

// world returns a maker of requests about a kind in two namespaces, and one that has no objects.
func world(seed uint64) *maker {
	group := &pair.Group{
		Version: "example.org/v1", Resources: map[string]string{"Claim": "claims", "Pool": "pools"}, Namespaced: map[string]bool{"Claim": true},
	}
	of := func(kind, namespace string) collection {
		base := &pair.Base{Kind: kind, Object: map[string]any{"apiVersion": "example.org/v1", "kind": kind, "metadata": map[string]any{"name": "a"}}}
		return collection{group, kind, namespace, base}
	}
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0)), kinds: []collection{of("Pool", "")}}
	for _, namespace := range namespaces {
		m.there = append(m.there, of("Claim", namespace))
	}
	return m
}

// TestRequests makes requests of all forms and methods. The same seed makes the same ones.
func TestRequests(t *testing.T) {
	m, again := world(1), world(1)
	made := map[string]int{}
	for n := range 20_000 {
		q, same := m.request(), again.request()
		if fmt.Sprint(q) != fmt.Sprint(same) {
			t.Fatalf("request %d is %v, and then %v", n, q, same)
		}
		if _, err := http.NewRequest(q.Method, "https://127.0.0.1"+q.Path, nil); err != nil && q.Path[0] != '/' {
			t.Errorf("request %d cannot be sent: %v", n, err)
		}
		made[q.form]++
		made[q.Method]++
	}
	for _, what := range []string{
		ofCollection, ofObject, ofSubresource, ofWatch, ofNothing, ofDocument, http.MethodGet, http.MethodPost, http.MethodPut,
		http.MethodPatch, http.MethodDelete,
	} {
		if made[what] < 100 {
			t.Errorf("%d requests are %s", made[what], what)
		}
	}
}

// TestCompare says which answers differ.
func TestCompare(t *testing.T) {
	reply := func(code int, form, body string) pair.Reply {
		return pair.Reply{Code: code, Header: http.Header{"Content-Type": {form}, "Date": {body}}, Body: []byte(body)}
	}
	const form = "application/json"
	for _, c := range []struct {
		name        string
		there, here pair.Reply
		differ      int
	}{
		{"equal but for the order and for what a server chooses", reply(200, form, `{"a":1,"metadata":{"uid":"1"}}`), reply(200, form, `{"metadata":{"uid":"2"},"a":1}`), 0},
		{"a code", reply(200, form, `{}`), reply(201, form, `{}`), 1},
		{"a header", reply(200, form, `{}`), reply(200, "application/yaml", `{}`), 1},
		{"a member and an item", reply(200, form, `{"a":1,"b":[1,2]}`), reply(200, form, `{"a":2,"b":[1,3]}`), 2},
		{"an item that is missing", reply(200, form, `[1,2]`), reply(200, form, `[1]`), 1},
		{"a text", reply(404, "text/plain", "not found"), reply(404, "text/plain", "nothing"), 1},
		{"a server that does not answer", pair.Reply{}, reply(200, form, `{}`), 0},
	} {
		if found := compare(c.there, c.here); len(found) != c.differ {
			t.Errorf("%s: %q", c.name, found)
		}
	}
}
