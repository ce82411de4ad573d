package histories

import (
	"fmt"
	"slices"
	"sync"

	"github.com/deed-project/deed/oracle/history"
	"github.com/deed-project/deed/oracle/kinds"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// manifests has the kinds of testdata/manifests. The path is relative to a test in a package of oracle.
var manifests = sync.OnceValues(func() ([]history.Kind, error) { return history.Load("../../testdata/manifests") })

// Unstructured returns the names of the worlds of built-in kinds that are held as unstructured objects.
func Unstructured() ([]string, error) {
	all, err := manifests()
	var names []string
	for _, kind := range all {
		names = append(names, kind.Name)
	}
	return names, err
}

// siblings has the further versions of kinds that have several versions with the same fields.
var siblings = map[string][]string{"deployment": {"apps/v1beta1", "apps/v1beta2"}}

// openUnstructured opens the world of a built-in kind as unstructured objects: versions differ only in their name.
func openUnstructured(name string) (*World, error) {
	all, err := manifests()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k history.Kind) bool { return k.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no world %q", name)
	}
	return openBuiltin(name, all[i], append([]string{all[i].GVK.GroupVersion().String()}, siblings[name]...))
}

func openBuiltin(name string, kind history.Kind, versions []string) (*World, error) {
	src, ok := kinds.Of(kind.GVK)
	if !ok {
		return nil, fmt.Errorf("no built-in kinds in the group of %v", kind.GVK)
	}
	w := &World{
		Name: name, Kind: kind.GVK.Kind, Versions: versions, Types: map[string]*schema.Type{}, peerTypes: src.Types,
		resets: map[string]reset{
			"": excluding(versions[:1], "status"), "status": excluding(versions, "metadata", "spec"),
		},
		engines: map[Endpoint]*engines{}, Seeds: map[string][]value.Value{},
	}
	for gvk, t := range builtin.Catalog().Kinds() {
		if gvk.Group == kind.GVK.Group && gvk.Kind == w.Kind {
			w.Types[gvk.APIVersion()] = t
		}
	}
	for _, text := range [][]byte{kind.A, kind.B, kind.C, kind.A2} {
		seed, err := value.Parse(text)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			w.Seeds[v] = append(w.Seeds[v], seed.With("apiVersion", value.String(v)))
		}
	}
	return w, nil
}
