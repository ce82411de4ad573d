package types

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// ParseKind reads APIVERSION/KIND, or a name of a built-in kind or of a kind in definitions. As for kubectl, a name is the kind, its
// resource, the singular of the resource, or a short name, in any case. A name stands for the only stable version of a built-in kind, and
// for the stored version of a definition. An empty text is no kind.
func ParseKind(text string, definitions ...*manifest.Object) (schema.GVK, error) {
	if text == "" {
		return schema.GVK{}, nil
	}
	if i := strings.LastIndex(text, "/"); i >= 0 {
		if gvk := schema.ParseGVK(text[:i], text[i+1:]); gvk.Version != "" && gvk.Kind != "" {
			return gvk, nil
		}
		return schema.GVK{}, fmt.Errorf("%q is no kind: write apps/v1/Deployment or v1/Pod", text)
	}
	for _, o := range definitions {
		if gvk, ok := definedKind(o, text); ok {
			return gvk, nil
		}
	}
	return builtinKind(text)
}

// definedKind returns the kind that the definition o defines, if text is one of its names.
func definedKind(o *manifest.Object, text string) (schema.GVK, bool) {
	spec := o.Content.Get("spec")
	names := spec.Get("names")
	called := []string{names.Get("kind").Str(), names.Get("plural").Str(), names.Get("singular").Str()}
	for v := range names.Get("shortNames").Items() {
		called = append(called, v.Str())
	}
	if !slices.ContainsFunc(called, func(name string) bool { return strings.EqualFold(name, text) }) {
		return schema.GVK{}, false
	}
	gvk := schema.GVK{Group: spec.Get("group").Str(), Version: storedVersion(o.Content), Kind: called[0]}
	return gvk, gvk.Version != ""
}

// storedVersion returns the version in which the objects of a definition are stored, or its first version if none says that it is stored.
func storedVersion(definition value.Value) (version string) {
	for v := range definition.Get("spec", "versions").Items() {
		if stored := v.Get("storage"); version == "" || stored.Kind() == value.KindBool && stored.Bool() {
			version = v.Get("name").Str()
		}
	}
	return version
}

// isCalled reports whether text is a name of the built-in kind.
func isCalled(gvk schema.GVK, text string) bool {
	names := []string{gvk.Kind}
	if k, ok := builtin.Lookup(gvk); ok {
		names = append(names, k.Resource, k.Singular)
		names = append(names, k.ShortNames...)
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, text) })
}

// builtinKind returns the built-in kind called text, in any case.
func builtinKind(text string) (schema.GVK, error) {
	var found, stable []schema.GVK
	for known := range builtin.Current().Typed() {
		if isCalled(known, text) {
			found = append(found, known)
			if !strings.ContainsAny(known.Version, "ab") { // excludes alpha and beta versions
				stable = append(stable, known)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(stable) == 1:
		return stable[0], nil
	case len(found) > 1:
		slices.SortStableFunc(found, schemas.CompareGVKs)
		all := make([]string, len(found))
		for i, known := range found {
			all[i] = known.APIVersion() + "/" + known.Kind
		}
		return schema.GVK{}, fmt.Errorf("%s is in several versions: say which of %s", text, strings.Join(all, ", "))
	}
	var names []string
	for _, known := range kindsIn(builtin.Catalog()) {
		names = append(names, known.Kind)
	}
	hint := ""
	if meant := wording.Nearest(text, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return schema.GVK{}, fmt.Errorf("no kind called %q is built in: name others as APIVERSION/KIND%s", text, hint)
}
