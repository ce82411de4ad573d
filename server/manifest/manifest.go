// Package manifest reads objects from files of YAML and JSON.
package manifest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// ReadFiles reads the objects in files, and in the YAML and JSON files below folders, by name. Lists are taken apart. Definitions
// come first, then namespaces, so that whatever they define can follow.
func ReadFiles(names []string) ([]value.Value, error) { return ReadFilesBy(Parse, names) }

// Parser reads the objects of a text, see Parse.
type Parser func(name string, text []byte) ([]value.Value, error)

// ReadFilesBy is ReadFiles that reads the text of each file by parse.
func ReadFilesBy(parse Parser, names []string) ([]value.Value, error) {
	var out []value.Value
	for _, name := range names {
		files, err := filesOf(name)
		if err != nil {
			return nil, err
		}
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
	}
	slices.SortStableFunc(out, func(a, b value.Value) int { return rank(a) - rank(b) })
	return out, nil
}

// rank says how early an object must be created.
func rank(object value.Value) int {
	switch object.Get("kind").Str() {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// filesOf returns the file, or the files below the folder, called name.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var out []string
	err = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".json":
			if err == nil && !entry.IsDir() {
				out = append(out, path)
			}
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s holds no YAML or JSON file", name)
	}
	return out, err
}

// Parse reads the objects of a text, in their order. Lists are taken apart. name is what errors call the text.
func Parse(name string, text []byte) ([]value.Value, error) {
	documents, err := yaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var out []value.Value
	for _, d := range documents {
		switch {
		case d.Value.IsNull() || d.Value.IsAbsent():
		case strings.HasSuffix(d.Value.Get("kind").Str(), "List") && d.Value.Get("items").Kind() == value.KindList:
			out = slices.AppendSeq(out, d.Value.Get("items").Items())
		default:
			out = append(out, d.Value)
		}
	}
	return out, nil
}
