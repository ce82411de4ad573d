// Package kustomize builds directories with the library of kustomize.
package kustomize

import (
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/secret"
)

// Build returns the objects of the kustomization in a directory as YAML, in the order in which kubectl -k sends them. It reads no files
// outside the directory except kustomizations, and runs no program except git, for resources on other hosts.
//
// The error is a [*manifest.MissingError], or else it may quote the files.
func Build(dir string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, missing(err)
	}
	return built.AsYaml()
}

// kustomize reports most errors as text inside other texts: these patterns match the errors about missing files.
const (
	noFile          = `(?:lstat|stat|open|read) ([^\s:']+): no such file or directory`
	noDirectory     = `evalsymlink failure on '([^']+)'`
	noKustomization = `unable to find one of 'kustomization.yaml', .* in directory '([^']+)'`
)

// missing returns err as a [*manifest.MissingError] if it reports a missing file.
func missing(err error) error {
	text := secret.Open.Error(err)
	if m := regexp.MustCompile(noKustomization).FindStringSubmatch(text); m != nil {
		return &manifest.MissingError{What: "kustomization.yaml in " + m[1]}
	}
	for _, pattern := range []string{noFile, noDirectory} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			return &manifest.MissingError{What: m[1]}
		}
	}
	return err
}
