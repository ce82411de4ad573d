package schema

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Names of kinds, and the lookup of their types.

// GVK names a Kubernetes kind by its API group, version and kind. The core group is empty.
type GVK struct{ Group, Version, Kind string }

// APIVersion returns the group and version as objects write them: group/version, or the version
// alone in the core group.
func (g GVK) APIVersion() string {
	if g.Group == "" {
		return g.Version
	}
	return g.Group + "/" + g.Version
}

// String returns g as Kubernetes prints it in messages: group/version, Kind=kind.
func (g GVK) String() string { return g.Group + "/" + g.Version + ", Kind=" + g.Kind }

// compare orders GVKs by group, version and kind.
func (g GVK) compare(h GVK) int {
	return cmp.Or(cmp.Compare(g.Group, h.Group), cmp.Compare(g.Version, h.Version), cmp.Compare(g.Kind, h.Kind))
}

// Catalog finds the type of a kind. It is immutable and safe for concurrent use. The nil Catalog is
// empty.
type Catalog struct {
	types map[GVK]*Type
}

// NewCatalog returns a catalog of types. It copies the map.
func NewCatalog(types map[GVK]*Type) *Catalog { return &Catalog{types: maps.Clone(types)} }

// Lookup returns the type of kind gvk, and whether the catalog has it.
func (c *Catalog) Lookup(gvk GVK) (*Type, bool) {
	if c == nil {
		return nil, false
	}
	t, ok := c.types[gvk]
	return t, ok
}

// Merge returns a catalog of the kinds of c and others. If several catalogs have a kind, the last
// one wins.
func (c *Catalog) Merge(others ...*Catalog) *Catalog {
	out := map[GVK]*Type{}
	for _, from := range append([]*Catalog{c}, others...) {
		if from != nil {
			maps.Copy(out, from.types)
		}
	}
	return &Catalog{types: out}
}

// Kinds yields all kinds with their types, sorted.
func (c *Catalog) Kinds() iter.Seq2[GVK, *Type] {
	return func(yield func(GVK, *Type) bool) {
		if c == nil {
			return
		}
		for _, gvk := range slices.SortedStableFunc(maps.Keys(c.types), GVK.compare) {
			if !yield(gvk, c.types[gvk]) {
				return
			}
		}
	}
}

// ParseGVK returns the GVK of an object with the given apiVersion and kind.
func ParseGVK(apiVersion, kind string) GVK {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	return GVK{Group: group, Version: version, Kind: kind}
}
