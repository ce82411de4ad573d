package apitest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// Types makes a server serve the kinds of a scheme that no server has by itself, for tests that have Go types and no
// CustomResourceDefinitions. clusterScoped are the kinds of these that belong to no namespace, as "KIND.GROUP".
//
// Such a kind has all versions of the scheme, the first by priority is stored, and its plural is guessed from its name. If its Go type has a
// member status, it has the subresource. Nothing is validated and all fields are kept; lists are replaced as a whole by an apply. Where that
// matters, load the definitions of the project with [CRDs], and leave out Types. A kind that another option defines is left alone.
func Types(scheme *runtime.Scheme, clusterScoped ...string) Option {
	return func(o *options) error {
		o.types = append(o.types, types{scheme, clusterScoped})
		return nil
	}
}

// types are arguments of Types.
type types struct {
	scheme        *runtime.Scheme
	clusterScoped []string
}

// define returns definitions for the kinds of the scheme that are neither built in nor defined by objects.
func (t types) define(objects []manifest.Object) ([]manifest.Object, error) {
	defined := map[kubeschema.GroupKind]bool{}
	for _, o := range objects {
		if o.Get("kind").Str() == "CustomResourceDefinition" {
			defined[kubeschema.GroupKind{Group: o.Get("spec", "group").Str(), Kind: o.Get("spec", "names", "kind").Str()}] = true
		}
	}
	var made []manifest.Object
	for _, group := range t.groups() {
		kinds := map[string][]string{} // versions by kind, the first by priority first
		for _, version := range t.scheme.PrioritizedVersionsForGroup(group) {
			for kind, goType := range t.scheme.KnownTypes(version) {
				gvk := schema.GVK{Group: group, Version: version.Version, Kind: kind}
				if _, isBuiltIn := builtin.Lookup(gvk); isObject(goType) && !isBuiltIn && !defined[kubeschema.GroupKind{Group: group, Kind: kind}] {
					kinds[kind] = append(kinds[kind], version.Version)
				}
			}
		}
		for kind, versions := range kinds {
			text := t.definition(kubeschema.GroupKind{Group: group, Kind: kind}, versions)
			v, err := value.FromAny(text)
			if err != nil {
				return nil, fmt.Errorf("the definition of %s.%s: %w", kind, group, err)
			}
			made = append(made, manifest.Object{Value: v})
		}
	}
	name := func(o manifest.Object) string { return o.Get("metadata", "name").Str() }
	slices.SortFunc(made, func(a, b manifest.Object) int { return strings.Compare(name(a), name(b)) })
	return made, nil
}

// groups returns the groups of the scheme.
func (t types) groups() []string {
	var groups []string
	for _, v := range t.scheme.PreferredVersionAllGroups() {
		groups = append(groups, v.Group)
	}
	return groups
}

// isObject reports whether values of a Go type are objects, not lists or options.
func isObject(goType reflect.Type) bool {
	return reflect.PointerTo(goType).Implements(reflect.TypeFor[metav1.Object]())
}

// definition returns the definition of a kind.
func (t types) definition(kind kubeschema.GroupKind, versions []string) map[string]any {
	first := kind.WithVersion(versions[0])
	plural, singular := meta.UnsafeGuessKindToResource(first)
	scope := "Namespaced"
	if slices.Contains(t.clusterScoped, kind.String()) {
		scope = "Cluster"
	}
	var served []any
	for i, version := range versions {
		v := map[string]any{
			"name": version, "served": true, "storage": i == 0,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
		}
		if hasStatus(t.scheme.KnownTypes(kind.WithVersion(version).GroupVersion())[kind.Kind]) {
			v["subresources"] = map[string]any{"status": map[string]any{}}
		}
		served = append(served, v)
	}
	metadata := map[string]any{"name": plural.Resource + "." + kind.Group}
	if kind.Group == "k8s.io" || strings.HasSuffix(kind.Group, ".k8s.io") {
		metadata["annotations"] = map[string]any{"api-approved.kubernetes.io": "unapproved, for a test"}
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
		"spec": map[string]any{
			"group": kind.Group, "scope": scope, "versions": served,
			"names": map[string]any{"kind": kind.Kind, "listKind": kind.Kind + "List", "plural": plural.Resource, "singular": singular.Resource},
		},
	}
}

// hasStatus reports whether a struct has a member status.
func hasStatus(goType reflect.Type) bool {
	for i := range goType.NumField() {
		if name, _, _ := strings.Cut(goType.Field(i).Tag.Get("json"), ","); name == "status" {
			return true
		}
	}
	return false
}
