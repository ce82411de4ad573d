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
