package manifest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// written writes files and returns the folder that they are in.
func written(t *testing.T, files map[string]string) string {
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

// called returns the kinds and names of objects, and their places without the folder.
func called(dir string, objects []Object) string {
	var out []string
	for _, o := range objects {
		where := strings.TrimPrefix(o.Where(), dir+string(filepath.Separator))
		out = append(out, fmt.Sprintf("%s/%s at %s", o.Get("kind").Str(), o.Get("metadata", "name").Str(), filepath.ToSlash(where)))
	}
	return strings.Join(out, ", ")
}

// TestRead reads a folder: YAML and JSON below it by name, definitions before namespaces before everything else, and lists taken apart.
func TestRead(t *testing.T) {
	dir := written(t, map[string]string{
		"b.yaml":     "kind: ConfigMap\nmetadata: {name: b1}\n---\n---\nkind: Namespace\nmetadata: {name: ns2}\n---\nnull\n",
		"a.yml":      "kind: List\nitems:\n- {kind: Secret, metadata: {name: a1}}\n- {kind: CustomResourceDefinition, metadata: {name: d2}}\n",
		"sub/c.json": `{"kind":"ConfigMapList","items":[{"kind":"Namespace","metadata":{"name":"ns3"}}]}`,
		"sub/d.json": `{"kind":"CustomResourceDefinition","metadata":{"name":"d1"}}`,
		"e.yaml":     "kind: WaitList\nmetadata: {name: e}\n",
		"f.txt":      "no: [YAML",
		"g.yaml/h":   "no: [YAML",
	})
	objects, err := Reader{}.Read(dir)
	want := "CustomResourceDefinition/d2 at a.yml:4, CustomResourceDefinition/d1 at sub/d.json:1, Namespace/ns2 at b.yaml:5, Namespace/ns3 at sub/c.json:1, " +
		"Secret/a1 at a.yml:3, ConfigMap/b1 at b.yaml:1, WaitList/e at e.yaml:1"
	if got := called(dir, objects); err != nil || got != want {
		t.Errorf("the folder has %s: %v\nwant %s", got, err, want)
	}
	objects, err = Reader{}.Read(filepath.Join(dir, "e.yaml"), filepath.Join(dir, "b.yaml"))
	if got := called(dir, objects); err != nil || got != "Namespace/ns2 at b.yaml:5, WaitList/e at e.yaml:1, ConfigMap/b1 at b.yaml:1" {
		t.Errorf("the files have %s: %v", got, err)
	}
	if values := Values(objects); len(values) != 3 || values[1].Get("metadata", "name").Str() != "e" {
		t.Errorf("without their places they are %v", values)
	}
	other := Reader{Parse: func(_ string, text []byte) ([]Object, error) {
		return Parse("other", []byte("kind: K\nmetadata: {name: n"+fmt.Sprint(len(text))+"}"))
	}}
	objects, err = other.Read(filepath.Join(dir, "f.txt"))
	if got := called(dir, objects); err != nil || got != "K/n9 at other:1" {
		t.Errorf("a file that is read by another parser has %s: %v", got, err)
	}
}

// TestDefinitions reads the definitions of two folders and leaves what else is in there.
func TestDefinitions(t *testing.T) {
	definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {group: g}\nmetadata: {name: %s}\n"
	dir := written(t, map[string]string{
		"a/d.yaml": fmt.Sprintf(definition, "d1") + "---\nkind: ConfigMap\nmetadata: {name: c}\n", "b/d.yaml": fmt.Sprintf(definition, "d2"),
	})
	objects, err := Reader{}.Definitions(filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	want := "CustomResourceDefinition/d1 at a/d.yaml:1, CustomResourceDefinition/d2 at b/d.yaml:1"
	if got := called(dir, objects); err != nil || got != want {
		t.Errorf("the folders have %s: %v\nwant %s", got, err, want)
	}
}

// TestUnreadable reads what cannot be read.
func TestUnreadable(t *testing.T) {
	dir := written(t, map[string]string{"bad.yaml": "a: [", "empty/readme.md": "", "other/a.yaml": "kind: ConfigMap"})
	for name, want := range map[string]string{
		"bad.yaml":  filepath.Join(dir, "bad.yaml"),
		"":          filepath.Join(dir, "bad.yaml"),
		"none.yaml": "no such file",
		"empty":     filepath.Join(dir, "empty") + " contains no manifest in YAML or JSON",
	} {
		if objects, err := (Reader{}).Read(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q has %s: %v, want %s", name, called(dir, objects), err, want)
		}
	}
	if objects, err := (Reader{}).Definitions(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("definitions of a file that is not there are %s: %v", called(dir, objects), err)
	}
	want := filepath.Join(dir, "other") + " contains no CustomResourceDefinition"
	if objects, err := (Reader{}).Definitions(filepath.Join(dir, "other")); err == nil || err.Error() != want {
		t.Errorf("definitions are %s: %v, want %s", called(dir, objects), err, want)
	}
}
