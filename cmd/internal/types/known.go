package types

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// ResourceOf returns the resource of a built-in kind, such as deployments; empty for other kinds.
func ResourceOf(gvk schema.GVK) string {
	if k, ok := builtin.Lookup(gvk); ok {
		return k.Resource
	}
	return ""
}

// KnownKind is a kind with its type.
type KnownKind struct {
	schema.GVK
	Typ  *schema.Type
	From string
}

// KnownKinds returns the kinds in the schemas of f and the built-in kinds, sorted. If a kind has several types, it returns the one that
// [Types] uses.
func KnownKinds(c *Library, f Flags) (all []KnownKind, ok bool) {
	before := c.Problems
	kinds := map[schema.GVK]KnownKind{}
	add := func(catalog *schema.Catalog, from string) {
		for gvk, t := range catalog.Kinds() {
			if _, known := kinds[gvk]; !known {
				kinds[gvk] = KnownKind{gvk, t, from}
			}
		}
	}
	definitions, _ := c.DefinedBy(f.Crds)
	for _, o := range definitions {
		d, ok := c.Definition(o)
		if !ok {
			continue
		}
		add(d.Catalog, fmt.Sprintf("defined at %v", o.At()))
	}
	if len(f.OpenAPI) > 0 {
		catalog, _ := c.CatalogOf(f.OpenAPI)
		add(catalog, "published in "+strings.Join(f.OpenAPI, " and "))
	}
	add(f.release().Catalog(), builtInFrom(f.release()))
	for _, gvk := range slices.SortedStableFunc(maps.Keys(kinds), schemas.CompareGVKs) {
		all = append(all, kinds[gvk])
	}
	return all, c.Problems == before
}

// TypeNamed returns the type of a kind, or the type called name.
func TypeNamed(c *Library, f Flags, name string) (*schema.Type, string, error) {
	if f.Schema != "" {
		t, ok := c.TypeIn(f.Schema, name)
		if !ok {
			return nil, "", nil
		}
		return t, f.Schema, nil
	}
	kinds, ok := KnownKinds(c, f)
	if !ok {
		return nil, "", nil
	}
	for _, k := range kinds {
		if k.APIVersion()+"/"+k.Kind == name {
			return k.Typ, k.From, nil
		}
	}
	if !strings.ContainsAny(name, "/.") {
		if gvk, err := builtinKind(name); err != nil {
			return nil, "", err
		} else if t, from, err := TypeNamed(c, f, gvk.APIVersion()+"/"+gvk.Kind); err == nil {
			return t, from, nil
		}
	}
	return typeCalled(kinds, name)
}

// typeCalled returns the type called name among the types of the kinds and their parts.
func typeCalled(kinds []KnownKind, name string) (*schema.Type, string, error) {
	var names []string
	found := map[string]KnownKind{}
	for _, k := range kinds {
		names = append(names, k.APIVersion()+"/"+k.Kind)
		EachType(k.Typ, func(t *schema.Type) {
			if _, known := found[t.Name()]; !known && t.Name() != "" {
				names = append(names, t.Name())
				found[t.Name()] = KnownKind{Typ: t, From: k.From}
			}
		})
	}
	if k, ok := found[name]; ok {
		return k.Typ, k.From, nil
	}
	hint := ""
	if meant := wording.Nearest(name, names); meant != "" {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	return nil, "", fmt.Errorf("there is no kind and no type %q: write kinds as apps/v1/Deployment%s", name, hint)
}

// EachType calls f once for t and for every type that values of t contain.
func EachType(t *schema.Type, f func(*schema.Type)) {
	seen := map[*schema.Type]bool{}
	var walk func(*schema.Type)
	walk = func(t *schema.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		f(t)
		if l := t.List(); l != nil {
			walk(l.Element())
		}
		if m := t.Map(); m != nil {
			for _, field := range m.Fields() {
				walk(field.Type)
			}
			walk(m.Element())
		}
	}
	walk(t)
}
