package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestFiles compares the files that package schema/builtin embeds with the types of the module k8s.io/kubernetes.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"forms.txt", "kinds.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../../../schema/builtin", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("schema/builtin/%s is stale; the comment of the command says how it is written", name)
		}
	}
}
