package main

import (
	"os"
	"testing"

	"github.com/deed-project/deed/oracle/kube/scheme"
)

// TestFile compares the file that package server/kinds embeds with the scheme of the module k8s.io/kubernetes.
func TestFile(t *testing.T) {
	const name = "../../../server/kinds/registered.txt"
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != table(scheme.All()) {
		t.Errorf("%s is stale; the comment of the command says how it is written", name)
	}
}
