package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

const live = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "managedFields": [
	{"manager": "autoscaler", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "time": "2026-11-02T09:30:00Z",
	 "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
	"spec": {"replicas": 3, "paused": true}}`

func configured(spec string) string {
	return `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": ` + spec + `}`
}

// printed returns what f prints on standard output.
func printed(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = file
	f()
	os.Stdout = stdout
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func object(t *testing.T, text string) managedfields.Object {
	t.Helper()
	o, err := managedfields.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestConflict(t *testing.T) {
	var err error
	out := printed(t, func() { err = apply(object(t, live), object(t, configured(`{"replicas": 5}`))) })
	var conflicts merge.Conflicts
	if !errors.As(err, &conflicts) || out != `"autoscaler" .spec.replicas 3 5`+"\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRun applies fields without other owners.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	files := []string{filepath.Join(folder, "live.json"), filepath.Join(folder, "config.json")}
	for i, text := range []string{live, configured(`{"paused": false}`)} {
		if err := os.WriteFile(files[i], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	out := printed(t, func() { err = run(files) })
	if err != nil || !strings.Contains(out, `"manager":"ci"`) || !strings.Contains(out, `"replicas":3`) || strings.Contains(out, `"paused":true`) {
		t.Errorf("%v\n%s", err, out)
	}
}
