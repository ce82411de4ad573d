// Package folder finds manifests: the files of a folder that hold API objects.
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

// Extensions are the file extensions of manifests, as in kubectl.
var Extensions = []string{".json", ".yaml", ".yml"}

// Manifests yields the manifests in dir, sorted by name. With recursive it includes the folders below dir. A manifest has one of
// the [Extensions] and is not part of a kustomization. The parts are the kustomization file, see [IsKustomization], and the
// patches, configurations and data that it names. Manifests yields an error for each unreadable file or folder and continues.
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

// IsKustomization reports whether kustomize treats the file called name as the kustomization of its folder.
func IsKustomization(name string) bool {
	switch filepath.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// sections are the lists of a kustomization that name files without objects. member is the name of the member of each item that
// holds the file name, or empty if the item is the name itself. Names may have the form KEY=FILE.
var sections = []struct{ list, member string }{
	{"patches", "path"}, {"patches", ""}, {"patchesStrategicMerge", ""}, {"patchesJson6902", "path"}, {"replacements", "path"},
	{"configurations", ""}, {"transformers", ""}, {"generators", ""}, {"validators", ""},
	{"configMapGenerator", "files"}, {"secretGenerator", "files"},
	{"helmCharts", "valuesFile"}, {"helmCharts", "additionalValuesFiles"},
}

// partsOf returns the files without objects that a kustomization names. It returns none if the kustomization cannot be read,
// because kustomize reports the reason.
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
