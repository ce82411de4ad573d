package controllers_test

import (
	"net/http"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
)

// TestAppliedDefinition applies a definition that leaves open what has a default, as kubectl apply --server-side does, and again.
func TestAppliedDefinition(t *testing.T) {
	s := servertest.Stage(t, memory.New())
	const path = "PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/cogs.example.org?fieldManager=kubectl" + servertest.ApplyPatch
	const cogs = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"cogs.example.org"},"spec":{
		"group":"example.org","scope":"Namespaced","names":{"plural":"cogs","kind":"Cog"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	w := servertest.Ask(s, path, cogs)
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	created := servertest.Parsed(t, w)
	if got := created.Get("spec", "names"); got.Get("listKind").Str() != "CogList" || got.Get("singular").Str() != "cog" {
		t.Errorf("its names are %v", got)
	}
	if w := servertest.Ask(s, "GET /apis/example.org/v1/namespaces/default/cogs", ""); w.Code != http.StatusOK {
		t.Errorf("what it defines is answered with %d %s", w.Code, w.Body)
	}
	before := servertest.Parsed(t, servertest.Ask(s, "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/cogs.example.org", ""))
	again := servertest.Parsed(t, servertest.Ask(s, path, cogs))
	if got, want := again.Get("metadata", "resourceVersion"), before.Get("metadata", "resourceVersion"); !got.Equal(want) {
		t.Errorf("applied again it is stored again: %v after %v", got, want)
	}
}
