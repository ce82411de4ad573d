package main

import (
	"encoding/json"
	"hash/fnv"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/value"
)

// sources are modules with manifests of real projects, and with their definitions.
var sources = []string{
	"istio.io/istio@v0.0.0-20260827124520-eed52ebb66ad", "knative.dev/serving@v0.51.0", "sigs.k8s.io/kueue@v0.17.0", "k8s.io/kubernetes@v1.37.1",
	"github.com/prometheus-operator/prometheus-operator@v0.85.0", "sigs.k8s.io/cluster-api@v1.14.2", "github.com/kyverno/kyverno@v1.19.1",
}

// collect returns the objects in the YAML files of all sources, without duplicates.
func collect() (objects []value.Value) {
	dir := must(os.MkdirTemp("", "modules"))
	defer os.RemoveAll(dir)
	write(filepath.Join(dir, "go.mod"), []byte("module manifests\n\ngo 1.26.0\n"))
	seen := map[uint64]bool{}
	for _, source := range sources {
		cmd := exec.Command("go", "mod", "download", "-json", source)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		var module struct{ Dir, Error string }
		if err := json.Unmarshal(must(cmd.Output()), &module); err != nil || module.Dir == "" {
			log.Fatalf("%s: %v, %s", source, err, module.Error)
		}
		before := len(objects)
		for _, o := range manifestsIn(module.Dir) {
			sum := fnv.New64a()
			sum.Write(o.AppendJSON(nil))
			if !seen[sum.Sum64()] {
				seen[sum.Sum64()] = true
				objects = append(objects, o)
			}
		}
		log.Printf("%s: %d objects", source, len(objects)-before)
	}
	return objects
}

// manifestsIn returns the objects in the files below dir. Files that are no YAML are templates.
func manifestsIn(dir string) (objects []value.Value) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents, err := yaml.Parse(path, text)
		if err != nil || len(text) > 1<<20 {
			return nil
		}
		for _, d := range documents {
			if items := d.Value.Get("items"); items.Kind() == value.KindList && strings.HasSuffix(d.Value.Get("kind").Str(), "List") {
				objects = slices.AppendSeq(objects, items.Items())
			} else if d.Value.Get("kind").Kind() == value.KindString {
				objects = append(objects, d.Value)
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	return objects
}

// edited returns v with a random edit somewhere below its spec, or another member that is not metadata, and says which.
func edited(r *rand.Rand, v value.Value) (value.Value, string) {
	var names []string
	for name := range v.Members() {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return v.With("nothing", value.Bool(true)), "add .nothing"
	}
	name := names[r.IntN(len(names))]
	inner, how := edit(r, v.Get(name), 0)
	return v.With(name, inner), "." + name + how
}

// edit returns v with a random edit in it, at a random depth.
func edit(r *rand.Rand, v value.Value, depth int) (value.Value, string) {
	inside := v.Len() > 0 && (depth == 0 || r.IntN(5) > 0)
	switch {
	case v.Kind() == value.KindObject && inside:
		var names []string
		for name := range v.Members() {
			names = append(names, name)
		}
		name := names[r.IntN(len(names))]
		switch r.IntN(8) {
		case 0:
			return v.With(name, value.Value{}), " without " + name
		case 1:
			return v.With(name, value.Value{}).With(name+"x", v.Get(name)), " with " + name + "x for " + name
		}
		inner, how := edit(r, v.Get(name), depth+1)
		return v.With(name, inner), "." + name + how
	case v.Kind() == value.KindList && inside:
		items := slices.Collect(v.Items())
		i := r.IntN(len(items))
		switch r.IntN(6) {
		case 0:
			return value.List(append(items, items[i])...), " with an item twice"
		case 1:
			return value.List(slices.Delete(items, i, i+1)...), " without an item"
		}
		inner, how := edit(r, items[i], depth+1)
		items[i] = inner
		return value.List(items...), "[]" + how
	}
	others := []value.Value{
		value.String("Not valid!"), value.String(""), value.Int(-1), value.Int(99999999999), value.Bool(true), value.List(), value.Object(),
		value.String(strings.Repeat("x", 300)), value.Int(0), value.Null(),
	}
	to := others[r.IntN(len(others))]
	return to, " = " + to.String()
}
