// Package kustomize builds directories with the library of kustomize.
package kustomize

import (
	"fmt"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/deed-project/deed/cmd/internal/secret"
)

// Build returns the objects of the kustomization in a directory as YAML, in the order in which kubectl -k sends them. It reads no files
// outside the directory except kustomizations, and runs no program except git, for resources on other hosts.
//
// The error is a [*MissingError], or else it may quote the files.
func Build(dir string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, missing(err)
	}
	return built.AsYaml()
}

// MissingError reports a missing file or directory that a kustomization names, or a missing kustomization.
type MissingError struct{ What string }

// Error names the missing file.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no %s", e.What) }

// kustomize reports most errors as text inside other texts: these patterns match the errors about missing files.
var (
	noFile          = regexp.MustCompile(`(?:lstat|stat|open|read) ([^\s:']+): no such file or directory`)
	noDirectory     = regexp.MustCompile(`evalsymlink failure on '([^']+)'`)
	noKustomization = regexp.MustCompile(`unable to find one of 'kustomization.yaml', .* in directory '([^']+)'`)
)

// missing returns err as a [*MissingError] if it reports a missing file.
func missing(err error) error {
	text := secret.Open.Error(err)
	if m := noKustomization.FindStringSubmatch(text); m != nil {
		return &MissingError{"kustomization.yaml in " + m[1]}
	}
	for _, pattern := range []*regexp.Regexp{noFile, noDirectory} {
		if m := pattern.FindStringSubmatch(text); m != nil {
			return &MissingError{m[1]}
		}
	}
	return err
}
