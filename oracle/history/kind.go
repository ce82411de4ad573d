// Package history plays histories of objects, with several managers that apply and update, on any engine, and records the answers. Two
// engines agree if their records do.
package history

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Kind is one directory of testdata/manifests: the configurations of three managers for one object of a built-in kind, in JSON.
type Kind struct {
	Name       string // of the directory
	GVK        schema.GroupVersionKind
	A, B, C    []byte // the configurations of three managers; they overlap
	A2         []byte // the second configuration of the first manager, with fields dropped and changed
	Controller []byte // a JSON merge patch by a controller
}

// Load returns the kinds of the directory dir, sorted by name.
func Load(dir string) ([]Kind, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		kind, err := loadKind(filepath.Join(dir, folder.Name()))
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func loadKind(dir string) (Kind, error) {
	kind := Kind{Name: filepath.Base(dir)}
	files := map[string]*[]byte{
		"a": &kind.A, "b": &kind.B, "c": &kind.C, "a2": &kind.A2, "controller": &kind.Controller,
	}
	for name, into := range files {
		text, err := readYAML(filepath.Join(dir, name+".yaml"))
		if err != nil {
			return Kind{}, err
		}
		*into = text
	}
	var meta struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(kind.A, &meta); err != nil {
		return Kind{}, err
	}
	kind.GVK = schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind)
	return kind, nil
}

func readYAML(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	out, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}
