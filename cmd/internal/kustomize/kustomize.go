// Package kustomize builds directories as kustomize does, by its library.
package kustomize

import (
	"fmt"
	"regexp"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/deed-project/deed/cmd/internal/secret"
)

// Build returns the objects that the kustomization in a directory comes to, as YAML, in the order in
// which kubectl -k sends them. Files outside of the directory that are no kustomizations cannot be
// read, and no program is run but git, for what is on other hosts.
//
// The error is a [*MissingError], or it may quote what the files hold.
func Build(dir string) ([]byte, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, missing(err)
	}
	return built.AsYaml()
}

// MissingError is a file or directory that a kustomization names, or is to be in, and that is not there.
type MissingError struct{ What string }

// Error says what is not there.
func (e *MissingError) Error() string { return fmt.Sprintf("there is no %s", e.What) }

// kustomize reports most errors as text in other texts: these are the ones about what is not there.
var (
	noFile          = regexp.MustCompile(`(?:lstat|stat|open|read) ([^\s:']+): no such file or directory`)
	noDirectory     = regexp.MustCompile(`evalsymlink failure on '([^']+)'`)
	noKustomization = regexp.MustCompile(`unable to find one of 'kustomization.yaml', .* in directory '([^']+)'`)
)

// missing returns err as a [*MissingError] if it is about what is not there.
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
