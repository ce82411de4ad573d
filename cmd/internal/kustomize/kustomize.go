// Package kustomize builds directories as kustomize does, by its library.
package kustomize

import (
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Build returns the objects that the kustomization in a directory comes to, as YAML, in the order in
// which kubectl -k sends them. Files outside of the directory that are no kustomizations cannot be
// read, and no program is run but git, for what is on other hosts.
func Build(dir string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return built.AsYaml()
}
