package types

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// StatusName is both a subresource and the field that it writes.
const StatusName = "status"

// withStatus returns the versions, as apiVersions, in which a CustomResourceDefinition has the status subresource.
func withStatus(definition value.Value) map[string]bool {
	out := map[string]bool{}
	group, versions := definition.Get("spec", "group").Str(), definition.Get("spec", "versions")
	for i := range versions.Len() {
		if v := versions.Item(i); v.Get("subresources", StatusName).Kind() == value.KindObject {
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
		return map[string]merge.Filter{apiVersion: {Exclude: fieldpath.SetOf(path(StatusName))}}
	case subresource == StatusName:
		out := map[string]merge.Filter{}
		for version := range k.status {
			out[version] = merge.Filter{Exclude: fieldpath.SetOf(path("metadata"), path("spec"))}
		}
		return out
	}
	return nil
}

// Restore returns outcome with what the endpoint does not write as it is stored.
func (e *Endpoint) Restore(stored, outcome managedfields.Object) managedfields.Object {
	switch e.Restores {
	case RestoreStatus:
		if !stored.Content.Get(StatusName).Equal(outcome.Content.Get(StatusName)) {
			outcome.Content = outcome.Content.With(StatusName, stored.Content.Get(StatusName))
		}
	case RestoreRest:
		content := outcome.Content
		outcome.Content = stored.Content.With("apiVersion", content.Get("apiVersion")).With("kind", content.Get("kind")).
			With(StatusName, content.Get(StatusName))
	}
	return outcome
}

// What an endpoint restores.
type Restoration uint8

const (
	RestoreNothing Restoration = iota
	RestoreStatus
	RestoreRest // everything but the status
)
