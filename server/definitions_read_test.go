package server

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/deed-project/deed/value"
)

// TestDefinitionsAreReadOnce counts what it takes to look at definitions again that did not change, and looks at one that is replaced, and
// for one that is gone. Only that changes the catalog.
func TestDefinitionsAreReadOnce(t *testing.T) {
	var definitions []value.Value
	for i := range 3 {
		d, err := value.Parse(fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
			"metadata":{"name":"things.g%d.org"},"spec":{"group":"g%d.org","scope":"Cluster","names":{"plural":"things","kind":"Thing"},
			"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, i, i))
		if err != nil {
			t.Fatal(err)
		}
		definitions = append(definitions, d)
	}
	s, err := New(Config{Objects: definitions})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	look := func() []value.Value {
		found, err := s.definitions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	look()
	if n := testing.AllocsPerRun(10, func() { look() }); n > 20 {
		t.Errorf("looking at three definitions again takes %v allocations", n)
	}
	patch, err := value.Parse([]byte(`{"metadata":{"labels":{"a":"b"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	served := s.catalog.Load()
	if err := s.send(t.Context(), http.MethodPatch, definitionsPath+"things.g1.org", patch); err != nil {
		t.Fatal(err)
	}
	if s.catalog.Load() != served {
		t.Error("another catalog has the same resources")
	}
	if got := look()[1].Get("metadata", "labels", "a").Str(); got != "b" {
		t.Errorf("a label that was written is read as %q", got)
	}
	if err := s.send(t.Context(), http.MethodDelete, definitionsPath+"things.g2.org", value.Value{}); err != nil {
		t.Fatal(err)
	}
	for range 500 { // its finalizer goes in the background
		if len(look()) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(look()); n != 2 || n != len(s.readDefinitions.of) {
		t.Errorf("%d definitions are stored, and %d remembered", n, len(s.readDefinitions.of))
	}
	if s.catalog.Load() == served {
		t.Error("the catalog has a resource whose definition is gone")
	}
}
