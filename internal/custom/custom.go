// Package custom makes the configurations of the field managers of a custom resource from its definition, and converts between the
// versions in which it is written and stored.
//
// The command line and the API server both use it, so that their answers agree.
package custom

import (
	"maps"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// StatusName is the name of a subresource and of the field that it writes.
const StatusName = "status"

// Kind has the field management of a kind, for all versions of its CustomResourceDefinition.
type Kind struct {
	types     map[string]*schema.Type // by apiVersion
	converter managedfields.Converter // between all versions
	status    map[string]merge.Filter // the reset fields of the subresource status, by version with it
}

// NewKind returns the Kind of a definition. types has the type of each version, by apiVersion; status names the versions with the
// subresource status. The cost is linear in the number of versions.
func NewKind(types map[string]*schema.Type, status map[string]bool) *Kind {
	k := &Kind{types: types, converter: managedfields.StrategyNone(slices.Collect(maps.Keys(types))...), status: map[string]merge.Filter{}}
	unwritten := excluding("metadata", "spec")
	for version := range status {
		k.status[version] = unwritten
	}
	return k
}

// Converter returns the converter between all versions, which converts by field names.
func (k *Kind) Converter() managedfields.Converter { return k.converter }

// Config returns the configuration of the endpoint of one version. The endpoint writes through subresource; "" is the resource
// itself:
//
//   - Versions convert by field names, as with the conversion strategy None.
//   - Default values come from s, the schema of the version. If s is nil, there are none.
//   - The resource does not write .status if that version has the subresource status.
//   - The subresource status does not write .metadata and .spec, in all versions that have it.
//
// The cost does not depend on the number of versions, because all configurations share them.
func (k *Kind) Config(gvk schema.GVK, subresource string, s *structural.Schema) managedfields.Config {
	c := managedfields.Config{
		GVK: gvk, Subresource: subresource, Types: k.types, ResetFields: k.resets(gvk.APIVersion(), subresource), Converter: k.converter,
	}
	if s != nil {
		c.Default = s.Default
	}
	return c
}

// resets returns the reset fields of an endpoint, nil if there are none.
func (k *Kind) resets(apiVersion, subresource string) map[string]merge.Filter {
	if _, ok := k.status[apiVersion]; !ok {
		return nil
	}
	switch subresource {
	case "":
		return map[string]merge.Filter{apiVersion: excluding(StatusName)}
	case StatusName:
		return k.status
	default:
		return nil
	}
}

// excluding returns the filter that drops fields of the root object.
func excluding(names ...string) merge.Filter {
	var paths []fieldpath.Path
	for _, name := range names {
		paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
	}
	return merge.Filter{Exclude: fieldpath.SetOf(paths...)}
}

// IsDefinition reports whether v is a CustomResourceDefinition, in any version. It is false for a patch that kustomize merges
// into a definition, because a patch has neither group, kind nor versions.
func IsDefinition(v value.Value) bool {
	gvk, spec := schema.ParseGVK(v.Get("apiVersion").Str(), v.Get("kind").Str()), v.Get("spec")
	isPatch := spec.Get("group").IsAbsent() && spec.Get("names").IsAbsent() && spec.Get("versions").IsAbsent()
	return gvk.Group == "apiextensions.k8s.io" && gvk.Kind == "CustomResourceDefinition" && !isPatch
}

// WithStatus returns the versions, as apiVersions, in which a CustomResourceDefinition has the subresource status.
func WithStatus(definition value.Value) map[string]bool {
	out := map[string]bool{}
	group := definition.Get("spec", "group").Str()
	for v := range definition.Get("spec", "versions").Items() {
		if HasStatus(v) {
			out[schema.GVK{Group: group, Version: v.Get("name").Str()}.APIVersion()] = true
		}
	}
	return out
}

// HasStatus reports whether v, a version of a CustomResourceDefinition, has the subresource status.
func HasStatus(v value.Value) bool {
	return v.Get("subresources", StatusName).Kind() == value.KindObject
}
