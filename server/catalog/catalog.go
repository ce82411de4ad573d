package catalog

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/version"
)

// Catalog is a set of resources. It is immutable.
type Catalog struct {
	resources map[groupPlural]*Resource
	ordered   []*Resource // by group, then by name
	groups    func() []Group
	alike     func() map[*Resource][]*Version
}

type groupPlural struct{ group, plural string }

// New returns the catalog of resources. Of resources with the same group and name, the last counts.
func New(resources ...*Resource) *Catalog {
	c := &Catalog{resources: make(map[groupPlural]*Resource, len(resources))}
	for _, r := range resources {
		c.resources[groupPlural{r.Group, r.Plural}] = r
	}
	for _, r := range c.resources {
		c.ordered = append(c.ordered, r)
	}
	slices.SortFunc(c.ordered, func(a, b *Resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Plural, b.Plural))
	})
	c.groups = sync.OnceValue(c.group)
	c.alike = sync.OnceValue(c.compare) // only webhooks ask
	return c
}

// compare finds the resources that the same objects are stored for.
func (c *Catalog) compare() map[*Resource][]*Version {
	stored := map[string][]*Resource{}
	for _, r := range c.ordered {
		stored[r.Prefix] = append(stored[r.Prefix], r)
	}
	alike := make(map[*Resource][]*Version, len(c.ordered))
	for _, r := range c.ordered {
		all := slices.Clone(r.Declared())
		for _, other := range stored[r.Prefix] {
			if other != r {
				all = append(all, other.Declared()...)
			}
		}
		alike[r] = all
	}
	return alike
}

// Alike returns the versions in which the objects of a resource are served: its own, and those of resources of other groups that
// they are stored for as well, such as events. Nobody may modify them.
func (c *Catalog) Alike(r *Resource) []*Version {
	if all, known := c.alike()[r]; known {
		return all
	}
	return r.Declared() // of a resource that was defined anew since
}

// Lookup returns the resource of a group, nil if it is not served.
func (c *Catalog) Lookup(group, plural string) *Resource {
	return c.resources[groupPlural{group, plural}]
}

// All yields the resources by group, then by name.
func (c *Catalog) All() iter.Seq[*Resource] { return slices.Values(c.ordered) }

// Group is an API group: the versions of it that some resource is served in, the preferred one first.
type Group struct {
	Name     string
	Versions []string
	Custom   bool // every resource is defined by a CustomResourceDefinition
}

// preferred are the groups of built-in kinds in the order in which kube-apiserver lists them. Those of custom resources come behind
// them, by name.
var preferred = []string{
	"", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling", "batch",
	"certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
	"apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io", "discovery.k8s.io", "resource.k8s.io",
	"flowcontrol.apiserver.k8s.io", "storagemigration.k8s.io",
}

// rank returns where a group is among all.
func rank(group string) int {
	if i := slices.Index(preferred, group); i >= 0 {
		return i
	}
	return len(preferred)
}

// Groups returns the groups in the order of discovery. Nobody may modify them.
func (c *Catalog) Groups() []Group { return c.groups() }

// group finds the groups. The cost grows with the number of resources and their versions.
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
	slices.SortStableFunc(out, func(a, b Group) int { return cmp.Compare(rank(a.Name), rank(b.Name)) })
	for i := range out {
		slices.SortFunc(out[i].Versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	}
	return out
}

// of returns the resources of a group, by name.
func (c *Catalog) of(group string) []*Resource {
	byGroup := func(r *Resource, group string) int { return cmp.Compare(r.Group, group) }
	from, _ := slices.BinarySearchFunc(c.ordered, group, byGroup)
	to, _ := slices.BinarySearchFunc(c.ordered[from:], group+"\x00", byGroup)
	return c.ordered[from : from+to]
}

// Group returns the group called name, and whether there is one.
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

// In yields what a group serves in a version, by name.
func (c *Catalog) In(group, version string) iter.Seq[*Version] {
	return func(yield func(*Version) bool) {
		for _, r := range c.of(group) {
			if v := r.Version(version); v != nil && !yield(v) {
				return
			}
		}
	}
}
