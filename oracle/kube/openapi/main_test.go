package main

import (
	"bytes"
	"os"
	"testing"
)

// TestFile compares the file that package server/catalog/openapi embeds with the schemas of the module k8s.io/kubernetes.
func TestFile(t *testing.T) {
	const name = "../../../server/catalog/openapi/schemas.txt.gz"
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pack()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale; the comment of the command says how it is written", name)
	}
}
