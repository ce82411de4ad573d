package types

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// noTypeError reports a kind that no schema describes in the wanted version.
type noTypeError struct {
	gvk    schema.GVK
	others []versions // other versions of the kind
	types  *Types     // with the known kinds
}

// Valueless marks the error as showing no value of an object: see [secret.Valueless].
func (e *noTypeError) Valueless() {}

// Error names the kind, the likely intended kind, and the flags that supply its type.
func (e *noTypeError) Error() string {
	text := "no schema describes " + e.gvk.String()
	isUnserved := func(version string) bool {
		k, ok := builtin.Lookup(schema.ParseGVK(version, e.gvk.Kind))
		return ok && k.Served == builtin.NotServed
	}
	if known := slices.DeleteFunc(sortedVersions(e.others), isUnserved); len(known) > 0 {
		text += ", only " + strings.Join(known, " and ")
	} else if meant := e.meant(); len(meant) > 0 {
		text += "; did you mean " + strings.Join(meant, " or ") + "? If not"
	}
	return text + ": supply one with --crd FILE, --openapi FILE, or --schema FILE --type NAME, " +
		"or do without one by --schemaless"
}

// meant returns the known kinds that were probably intended: kinds with the same name in other groups, or else with the nearest name. Among
// the nearest, kinds in the same group and version take precedence.
func (e *noTypeError) meant() []string {
	named := func(name string) func(schema.GVK) bool {
		return func(g schema.GVK) bool { return strings.EqualFold(g.Kind, name) }
	}
	kinds := slices.Concat(e.types.kinds, kindsIn(e.types.release.Catalog()))
	if same := namesOf(kinds, named(e.gvk.Kind)); len(same) > 0 {
		return same
	}
	here := func(g schema.GVK) bool { return g.Group == e.gvk.Group && g.Version == e.gvk.Version }
	for _, among := range []func(schema.GVK) bool{here, func(schema.GVK) bool { return true }} {
		var names []string
		for _, g := range kinds {
			if among(g) {
				names = append(names, g.Kind)
			}
		}
		slices.Sort(names)
		if meant := wording.Nearest(e.gvk.Kind, names); meant != "" {
			return namesOf(kinds, func(g schema.GVK) bool { return among(g) && named(meant)(g) })
		}
	}
	return nil
}

// namesOf returns the names of the kinds for which wanted returns true, sorted.
func namesOf(kinds []schema.GVK, wanted func(schema.GVK) bool) []string {
	var out []string
	for _, g := range kinds {
		if wanted(g) {
			out = append(out, g.APIVersion()+" "+g.Kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// kindsIn returns the kinds of objects in catalog, see [isObjects].
func kindsIn(catalog *schema.Catalog) []schema.GVK {
	var out []schema.GVK
	for gvk, t := range catalog.Kinds() {
		if isObjects(gvk, t) {
			out = append(out, gvk)
		}
	}
	return out
}

// isObjects reports whether gvk, whose type is t, is a kind of objects that may be suggested. The metadata of objects has a name, unlike
// that of lists. A built-in kind must have a version that servers serve.
func isObjects(gvk schema.GVK, t *schema.Type) bool {
	if k, ok := builtin.Lookup(gvk); ok && k.Served == builtin.NotServed {
		return false
	}
	name := TypeAt(t, fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("name")})
	return name != nil || IsDeduced(t)
}

// kindsDefined returns the kinds that the CustomResourceDefinitions among objects define.
func kindsDefined(objects []*manifest.Object) []schema.GVK {
	var out []schema.GVK
	for _, o := range objects {
		if !IsDefinition(o.Content) {
			continue
		}
		spec := o.Content.Get("spec")
		for version := range spec.Get("versions").Items() {
			out = append(out, schema.GVK{
				Group: spec.Get("group").Str(), Version: version.Get("name").Str(), Kind: spec.Get("names", "kind").Str(),
			})
		}
	}
	return out
}
