package server

import (
	"net/http"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestDocumentsAreKept defines something else, which changes no document of other groups, and a version more, which does.
func TestDocumentsAreKept(t *testing.T) {
	s, err := New(Config{Objects: []value.Value{thing(t, "things", "g0.org")}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	document := func(group, version string) *hashed { return s.documents().of(group, version) }
	custom, builtin := document("g0.org", "v1"), document("apps", "v1")
	if err := s.Create(t.Context(), thing(t, "things", "g1.org")); err != nil {
		t.Fatal(err)
	}
	if document("g0.org", "v1") != custom || document("apps", "v1") != builtin {
		t.Error("a definition in another group makes a document anew")
	}
	if err := s.Create(t.Context(), thing(t, "more", "g0.org")); err != nil {
		t.Fatal(err)
	}
	both := document("g0.org", "v1")
	if both.hash == custom.hash {
		t.Error("a definition in the group changes nothing in its document")
	}
	if err := s.send(t.Context(), http.MethodDelete, definitionsPath+"things.g1.org", value.Value{}); err != nil {
		t.Fatal(err)
	}
	if document("g0.org", "v1") != both {
		t.Error("a deletion in another group makes a document anew")
	}
}
