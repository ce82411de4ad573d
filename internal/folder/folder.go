// Package folder finds manifests: the files of a folder that hold objects of an API.
package folder

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// Extensions are those of manifests, as in kubectl.
var Extensions = []string{".json", ".yaml", ".yml"}

// Manifests yields the manifests in the folder called dir, sorted by name, and with recursive those below it. A file counts if it
// has one of the [Extensions] and is no part of a kustomization: neither [IsKustomization], nor a patch, a configuration or data
// that such a file names. What cannot be read is yielded as an error, and the walk goes on.
func Manifests(dir string, recursive bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var files []string
		parts := map[string]bool{}
		stopped := false
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				if stopped = !yield("", err); stopped {
					return fs.SkipAll
				}
			case entry.IsDir() && path != dir && !recursive:
				return fs.SkipDir
			case entry.IsDir():
			case IsKustomization(path):
				for _, name := range partsOf(path) {
					parts[filepath.Join(filepath.Dir(path), name)] = true
				}
			case slices.Contains(Extensions, filepath.Ext(path)):
				files = append(files, path)
			}
			return nil
		})
		if err != nil && !stopped {
			stopped = !yield("", err)
		}
		for _, file := range files {
			if stopped {
				return
			}
			if !parts[filepath.Clean(file)] {
				stopped = !yield(file, nil)
			}
		}
	}
}

// IsKustomization reports whether the file called name is one that kustomize looks for in a folder.
func IsKustomization(name string) bool {
	switch filepath.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// sections are the lists of a kustomization that name files which hold no objects: each with the member of its items that has
// the names, empty where the item is a name itself. Names may be behind a key, as in KEY=FILE.
var sections = []struct{ list, member string }{
	{"patches", "path"}, {"patches", ""}, {"patchesStrategicMerge", ""}, {"patchesJson6902", "path"}, {"replacements", "path"},
	{"configurations", ""}, {"transformers", ""}, {"generators", ""}, {"validators", ""},
	{"configMapGenerator", "files"}, {"secretGenerator", "files"},
	{"helmCharts", "valuesFile"}, {"helmCharts", "additionalValuesFiles"},
}

// partsOf returns the files without objects that the kustomization in the file called name names. There are none if it cannot be
// read: then kustomize says why.
func partsOf(name string) []string {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	documents, err := yaml.Parse(name, text)
	if err != nil || len(documents) == 0 {
		return nil
	}
	kustomization := documents[0].Value
	var out []string
	add := func(v value.Value) {
		if file := v.Str(); file != "" {
			out = append(out, file[strings.LastIndexByte(file, '=')+1:])
		}
	}
	for _, s := range sections {
		for item := range kustomization.Get(s.list).Items() {
			if s.member != "" {
				item = item.Get(s.member)
			}
			add(item)
			for name := range item.Items() {
				add(name)
			}
		}
	}
	add(kustomization.Get("openapi", "path"))
	return out
}
