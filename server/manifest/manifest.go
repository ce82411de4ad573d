// Package manifest reads objects from files of YAML and JSON.
package manifest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/internal/folder"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Object is an object and where it was read.
type Object struct {
	value.Value
	File     string
	document yaml.Document
	path     []any // to the object in the document
}

// Where returns the place of o as terminals know it: FILE:LINE.
func (o Object) Where() string {
	line, _ := o.document.Position(o.path...)
	return fmt.Sprintf("%s:%d", o.File, line)
}

// Values returns the objects without their places.
func Values(objects []Object) []value.Value {
	out := make([]value.Value, len(objects))
	for i, o := range objects {
		out[i] = o.Value
	}
	return out
}

// Reader reads files and, in folders, the manifests at any depth: see [folder.Manifests].
type Reader struct {
	// Parse reads the objects of a text; nil is [Parse].
	Parse func(name string, text []byte) ([]Object, error)
}

// Read returns the objects in the named files and folders. Definitions come first, then namespaces, then the rest in the order of
// the files, so that whatever they define can follow.
func (r Reader) Read(names ...string) ([]Object, error) {
	var out []Object
	for _, name := range names {
		objects, err := r.readAll(name)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	slices.SortStableFunc(out, func(a, b Object) int { return rank(a) - rank(b) })
	return out, nil
}

// Definitions returns the CustomResourceDefinitions in the named files and folders, whatever else is in there. It is an error if a
// name leads to none.
func (r Reader) Definitions(names ...string) ([]Object, error) {
	var out []Object
	for _, name := range names {
		objects, err := r.readAll(name)
		if err != nil {
			return nil, err
		}
		objects = slices.DeleteFunc(objects, func(o Object) bool { return !custom.IsDefinition(o.Value) })
		if len(objects) == 0 {
			return nil, fmt.Errorf("%s contains no CustomResourceDefinition", name)
		}
		out = append(out, objects...)
	}
	return out, nil
}

// readAll returns the objects in the file or folder called name, in the order of the files.
func (r Reader) readAll(name string) ([]Object, error) {
	files, err := filesOf(name)
	if err != nil {
		return nil, err
	}
	parse := r.Parse
	if parse == nil {
		parse = Parse
	}
	var out []Object
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := parse(file, text)
		if err != nil {
			return nil, err
		}
		out = append(out, objects...)
	}
	return out, nil
}

// rank says how early an object must be created.
func rank(object Object) int {
	switch object.Get("kind").Str() {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// filesOf returns the file, or the manifests in the folder, called name.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var out []string
	for file, err := range folder.Manifests(name, true) {
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s contains no manifest in YAML or JSON", name)
	}
	return out, nil
}

// Parse reads the objects of a text, in their order. Lists are taken apart. name is what errors call the text.
func Parse(name string, text []byte) ([]Object, error) {
	documents, err := yaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var out []Object
	for _, d := range documents {
		add := func(v value.Value, path ...any) { out = append(out, Object{v, name, d, path}) }
		switch {
		case d.Value.IsNull() || d.Value.IsAbsent():
		case strings.HasSuffix(d.Value.Get("kind").Str(), "List") && d.Value.Get("items").Kind() == value.KindList:
			for i := range d.Value.Get("items").Len() {
				add(d.Value.Get("items").Item(i), "items", i)
			}
		default:
			add(d.Value)
		}
	}
	return out, nil
}
