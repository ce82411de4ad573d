package catalog

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/version"
)

// Catalog is an immutable set of resources.
type Catalog struct {
	resources map[groupPlural]*Resource
	unlisted  map[groupPlural]*Resource // of Route alone
	ordered   []*Resource               // by group, then by name
	groups    func() []Group
	sharing   func() map[*Resource][]*Version
}

type groupPlural struct{ group, plural string }

// New returns the catalog of resources. The last of several resources with the same group and plural counts, but a custom resource does not
// replace a built-in kind.
func New(resources ...*Resource) *Catalog {
	c := &Catalog{resources: make(map[groupPlural]*Resource, len(resources)), unlisted: map[groupPlural]*Resource{}}
	for _, r := range resources {
		key := groupPlural{r.Group, r.Plural}
		if r.Broken || len(r.Versions) == 0 {
			c.unlisted[key] = r
			continue
		}
		if other := c.resources[key]; other == nil || other.Custom || !r.Custom {
			c.resources[key] = r
		}
	}
	for _, r := range c.resources {
		c.ordered = append(c.ordered, r)
	}
	slices.SortFunc(c.ordered, func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Plural, b.Plural))
	})
	c.groups = sync.OnceValue(c.group)
	c.sharing = sync.OnceValue(c.compare) // only webhooks need it
	return c
}

// compare groups the resources whose objects share a prefix in the store.
func (c *Catalog) compare() map[*Resource][]*Version {
	stored := map[string][]*Resource{}
	for _, r := range c.ordered {
		stored[r.Prefix] = append(stored[r.Prefix], r)
	}
	sharing := make(map[*Resource][]*Version, len(c.ordered))
	for _, r := range c.ordered {
		all := slices.Clone(r.Declared())
		for _, other := range stored[r.Prefix] {
			if other != r {
				all = append(all, other.Declared()...)
			}
		}
		sharing[r] = all
	}
	return sharing
}

// SharingStorage returns the versions that serve the objects of r. They include the versions of resources of other groups that share its
// storage, as events do. The result is shared and must not be modified.
func (c *Catalog) SharingStorage(r *Resource) []*Version {
	if all, known := c.sharing()[r]; known {
		return all
	}
	return r.Declared() // r was redefined after the catalog was made
}

// Lookup returns the resource of a group, nil if the catalog lacks it. The resource has a version.
func (c *Catalog) Lookup(group, plural string) *Resource {
	return c.resources[groupPlural{group, plural}]
}

// Route returns the resource that answers requests for a group and plural: that of Lookup, or else one that is broken or has no version. It
// returns nil for none.
func (c *Catalog) Route(group, plural string) *Resource {
	if r := c.Lookup(group, plural); r != nil {
		return r
	}
	return c.unlisted[groupPlural{group, plural}]
}

// All yields the resources by group, then by name.
func (c *Catalog) All() iter.Seq[*Resource] { return slices.Values(c.ordered) }

// Group is an API group with the versions that its resources are served in, the preferred version first.
type Group struct {
	Name     string
	Versions []string
	Custom   bool  // every resource is defined by a CustomResourceDefinition
	Priority int32 // of the group; groups of a higher priority come first
}

// Groups returns the groups in the order of discovery. The result is shared and must not be modified.
func (c *Catalog) Groups() []Group { return c.groups() }

// group computes the groups. The cost grows with the number of resources and their versions.
func (c *Catalog) group() []Group {
	var out []Group
	for _, r := range c.ordered {
		if len(out) == 0 || out[len(out)-1].Name != r.Group {
			out = append(out, Group{Name: r.Group, Custom: true})
		}
		g := &out[len(out)-1]
		g.Custom = g.Custom && r.Custom
		for _, v := range r.Versions {
			if !slices.Contains(g.Versions, v.Name) {
				g.Versions = append(g.Versions, v.Name)
			}
		}
	}
	for i, g := range out {
		slices.SortFunc(g.Versions, func(a, b string) int {
			return cmp.Or(cmp.Compare(PriorityOf(g.Name, b).Version, PriorityOf(g.Name, a).Version), version.CompareKubeAwareVersionStrings(b, a))
		})
		for _, v := range g.Versions {
			out[i].Priority = max(out[i].Priority, PriorityOf(g.Name, v).Group)
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(b.Priority, a.Priority) })
	return out
}

// of returns the resources of a group, by name.
func (c *Catalog) of(group string) []*Resource {
	byGroup := func(r *Resource, group string) int { return cmp.Compare(r.Group, group) }
	from, _ := slices.BinarySearchFunc(c.ordered, group, byGroup)
	to, _ := slices.BinarySearchFunc(c.ordered[from:], group+"\x00", byGroup)
	return c.ordered[from : from+to]
}

// Group returns the group called name, and whether it exists.
func (c *Catalog) Group(name string) (Group, bool) {
	if len(c.of(name)) == 0 {
		return Group{}, false
	}
	groups := c.Groups()
	i := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name })
	return groups[i], true
}

// Shares reports whether a group has the same resources in another catalog.
func (c *Catalog) Shares(other *Catalog, group string) bool {
	return slices.Equal(c.of(group), other.of(group))
}

// IsBuiltIn reports whether a group serves built-in kinds in a version.
func (c *Catalog) IsBuiltIn(group, version string) bool {
	return slices.ContainsFunc(c.of(group), func(r *Resource) bool { return !r.Custom && r.Version(version) != nil })
}

// In yields the resources that a group serves in a version, by name. If there are built-in kinds, it yields no custom resources.
func (c *Catalog) In(group, version string) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		builtIn := c.IsBuiltIn(group, version)
		for _, r := range c.of(group) {
			if v := r.Version(version); v != nil && r.Custom != builtIn && !yield(v) {
				return
			}
		}
	}
}
