package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// folder writes files and returns the folder that they are in.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// called returns the kinds and names of objects.
func called(objects []value.Value) string {
	var out []string
	for _, o := range objects {
		out = append(out, o.Get("kind").Str()+"/"+o.Get("metadata", "name").Str())
	}
	return strings.Join(out, " ")
}

// TestReadFiles reads a folder: YAML and JSON below it by name, definitions before namespaces before everything else, and lists taken apart.
func TestReadFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"b.yaml":     "kind: ConfigMap\nmetadata: {name: b1}\n---\n---\nkind: Namespace\nmetadata: {name: ns2}\n---\nnull\n",
		"a.yml":      "kind: List\nitems:\n- {kind: Secret, metadata: {name: a1}}\n- {kind: CustomResourceDefinition, metadata: {name: d2}}\n",
		"sub/c.json": `{"kind":"ConfigMapList","items":[{"kind":"Namespace","metadata":{"name":"ns3"}}]}`,
		"sub/d.json": `{"kind":"CustomResourceDefinition","metadata":{"name":"d1"}}`,
		"e.yaml":     "kind: WaitList\nmetadata: {name: e}\n",
		"f.txt":      "no: [YAML",
		"g.yaml/h":   "no: [YAML",
	})
	objects, err := ReadFiles([]string{dir})
	want := "CustomResourceDefinition/d2 CustomResourceDefinition/d1 Namespace/ns2 Namespace/ns3 Secret/a1 ConfigMap/b1 WaitList/e"
	if got := called(objects); err != nil || got != want {
		t.Errorf("the folder has %s: %v\nwant %s", got, err, want)
	}
	objects, err = ReadFiles([]string{filepath.Join(dir, "e.yaml"), filepath.Join(dir, "b.yaml")})
	if got := called(objects); err != nil || got != "Namespace/ns2 WaitList/e ConfigMap/b1" {
		t.Errorf("the files have %s: %v", got, err)
	}
	parsed, err := ReadFilesBy(func(name string, text []byte) ([]value.Value, error) {
		return []value.Value{value.Object(value.Member{Name: "kind", Value: value.String(filepath.Base(name) + fmt.Sprint(len(text)))})}, nil
	}, []string{filepath.Join(dir, "f.txt")})
	if got := called(parsed); err != nil || got != "f.txt9/" {
		t.Errorf("a file that is read by another parser has %s: %v", got, err)
	}
}

// TestUnreadable reads what cannot be read.
func TestUnreadable(t *testing.T) {
	dir := folder(t, map[string]string{"bad.yaml": "a: [", "empty/readme.md": ""})
	for name, want := range map[string]string{
		"bad.yaml":  filepath.Join(dir, "bad.yaml"),
		"":          filepath.Join(dir, "bad.yaml"),
		"none.yaml": "no such file",
		"empty":     filepath.Join(dir, "empty") + " holds no YAML or JSON file",
	} {
		if objects, err := ReadFiles([]string{filepath.Join(dir, name)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q has %s: %v, want %s", name, called(objects), err, want)
		}
	}
}
