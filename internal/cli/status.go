package cli

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// statusName is both a subresource and the field that it writes.
const statusName = "status"

// withStatus returns the versions, as apiVersions, in which a CustomResourceDefinition has the status subresource.
func withStatus(definition value.Value) map[string]bool {
	out := map[string]bool{}
	group, versions := definition.At("spec", "group").Str(), definition.At("spec", "versions")
	for i := range versions.Len() {
		if v := versions.Item(i); v.At("subresources", statusName).Kind() == value.KindObject {
			out[schema.GVK{Group: group, Version: v.Get("name").Str()}.APIVersion()] = true
		}
	}
	return out
}

// resets returns the fields of a custom resource that are not written through subresource, empty for the resource itself, in
// the version apiVersion:
//
//   - The resource does not write .status if that version has the status subresource.
//   - The status subresource does not write .metadata and .spec, in all versions that have it.
func (k kindTypes) resets(apiVersion, subresource string) map[string]merge.Filter {
	path := func(name string) fieldpath.Path { return fieldpath.Path{fieldpath.Field(name)} }
	switch {
	case !k.status[apiVersion]:
	case subresource == "":
		return map[string]merge.Filter{apiVersion: {Exclude: fieldpath.SetOf(path(statusName))}}
	case subresource == statusName:
		out := map[string]merge.Filter{}
		for version := range k.status {
			out[version] = merge.Filter{Exclude: fieldpath.SetOf(path("metadata"), path("spec"))}
		}
		return out
	}
	return nil
}

// restore returns outcome with what the endpoint does not write as it is stored.
func (e *endpoint) restore(stored, outcome managedfields.Object) managedfields.Object {
	switch e.restores {
	case restoreStatus:
		if !stored.Content.Get(statusName).Equal(outcome.Content.Get(statusName)) {
			outcome.Content = outcome.Content.With(statusName, stored.Content.Get(statusName))
		}
	case restoreRest:
		content := outcome.Content
		outcome.Content = stored.Content.With("apiVersion", content.Get("apiVersion")).With("kind", content.Get("kind")).
			With(statusName, content.Get(statusName))
	}
	return outcome
}

// What an endpoint restores.
type restoration uint8

const (
	restoreNothing restoration = iota
	restoreStatus
	restoreRest // everything but the status
)
