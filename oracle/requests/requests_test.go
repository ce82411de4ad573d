package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
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

// TestChanges makes changes of objects and watches of them. The same seed makes the same ones.
func TestChanges(t *testing.T) {
	m, again := world(2), world(2)
	m.steps, again.steps = 9, 9
	made := map[string]int{}
	for n := range 2000 {
		k := m.there[n%len(m.there)]
		q, same := m.change(k), again.change(k)
		watch, sameWatch := m.live(), again.live()
		if fmt.Sprint(q, watch) != fmt.Sprint(same, sameWatch) {
			t.Fatalf("change %d is %v, and then %v", n, q, same)
		}
		for _, path := range []string{q.Path, watch.Path} {
			if _, err := http.NewRequest(http.MethodGet, "https://127.0.0.1"+path, nil); err != nil {
				t.Errorf("request %d cannot be sent: %v", n, err)
			}
		}
		made[q.Method]++
	}
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if made[method] < 100 {
			t.Errorf("%d changes are %s", made[method], method)
		}
	}
}

// TestSteps has the objects of a watch say which change they come from. An object of another write says nothing, and a bookmark is left out.
func TestSteps(t *testing.T) {
	s := &side{versions: []string{"10", "12"}}
	watch := pair.Reply{Code: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`
		{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"12"}}}
		{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"12"}}}
		{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"13"}}}`)}
	const want = `{"object":{"metadata":{"name":"a","resourceVersion":"12","writtenBy":"step 1"}},"type":"ADDED"}
{"object":{"metadata":{"name":"a","resourceVersion":"13"}},"type":"DELETED"}
`
	if got := s.steps(events(watch)); string(got.Body) != want {
		t.Errorf("the events are\n%s\nwant\n%s", got.Body, want)
	}
}

// TestProducts makes the requests of all products. Each is a dry run or reads, and none is made twice.
func TestProducts(t *testing.T) {
	m := world(3)
	made := append(m.there[:1:1], m.kinds...)
	seen := map[string]bool{}
	for _, p := range products(made) {
		for q := range p.requests() {
			says := q.Path
			// Options in a body take the place of those in the query.
			if body, _ := q.Body.([]byte); q.Method == http.MethodDelete && body != nil && !slices.Contains(noOptions, string(body)) {
				says = string(body)
			}
			if q.Method != http.MethodGet && !strings.Contains(says, "dryRun") {
				t.Errorf("%s %s %s changes something", q.Method, q.Path, q.Body)
			}
			line := fmt.Sprintf("%s %s %s %s", q.Method, q.Path, q.ContentType, q.Body)
			if seen[line] {
				t.Errorf("%s is made twice", line)
			}
			seen[line] = true
		}
	}
	if len(seen) < 10_000 {
		t.Errorf("the products have %d requests", len(seen))
	}
}
