package crd

import (
	"testing"

	"github.com/deed-project/deed/value"
)

// TestLoad reads a definition as kube-apiserver stores it: in v1beta1.
func TestLoad(t *testing.T) {
	stored, err := value.Parse([]byte(`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",
		"metadata":{"name":"things.t.io","uid":"u","creationTimestamp":"2026-01-02T03:04:05Z"},
		"spec":{"group":"t.io","version":"v1","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"scope":"Namespaced",
		"validation":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}},"subresources":{"status":{}},
		"versions":[{"name":"v1","served":true,"storage":true}],"conversion":{"strategy":"None"},"preserveUnknownFields":false},
		"status":{"conditions":[{"type":"Established","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"InitialNamesAccepted","message":"m"}],
		"acceptedNames":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},"storedVersions":["v1"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(stored)
	if err != nil {
		t.Fatal(err)
	}
	version := got.Get("spec", "versions").Item(0)
	if got.Get("apiVersion").Str() != "apiextensions.k8s.io/v1" || got.Get("kind").Str() != "CustomResourceDefinition" ||
		version.Get("schema", "openAPIV3Schema", "type").Str() != "object" || version.Get("subresources", "status").IsAbsent() {
		t.Errorf("it is read as %v", got)
	}
	if !got.Get("status").Equal(stored.Get("status")) || !got.Get("metadata").Equal(stored.Get("metadata")) {
		t.Errorf("status and metadata are read as %v", got)
	}
	again, err := Load(got)
	if err != nil || !again.Equal(got) {
		t.Errorf("one of v1 is read as %v, %v", again, err)
	}
	if !Served(got) {
		t.Error("it is not served")
	}
}
