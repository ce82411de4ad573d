package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/schema"
)

// APIGroup returns the discovery document of a group.
func (g Group) APIGroup() metav1.APIGroup {
	out := metav1.APIGroup{Name: g.Name}
	for _, v := range g.Versions {
		gv := metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v, Version: v}
		out.Versions = append(out.Versions, gv)
	}
	out.PreferredVersion = out.Versions[0]
	return out
}

// Subresource is an endpoint below the objects of a version.
type Subresource struct {
	Name  string
	Kind  schema.GVK // of its objects
	Verbs []string
}

// Subresources returns the subresources of a version by name, or status before scale for a custom resource.
func (v *Version) Subresources() []Subresource {
	var out []Subresource
	if v.Finalize != nil {
		out = append(out, Subresource{"finalize", v.GVK(), []string{"update"}})
	}
	if v.Scale != nil {
		out = append(out, Subresource{"scale", ScaleKind, []string{"get", "patch", "update"}})
	}
	if v.Status != nil {
		out = append(out, Subresource{"status", v.GVK(), []string{"get", "patch", "update"}})
	}
	for name := range v.Parts {
		out = append(out, Subresource{name, v.GVK(), []string{"get", "patch", "update"}})
	}
	for name, kind := range v.Actions {
		out = append(out, Subresource{name, kind.GVK(), kind.Verbs})
	}
	if v.Custom {
		slices.Reverse(out)
		return out
	}
	slices.SortFunc(out, func(a, b Subresource) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// APIResources returns the discovery document of a group version, which lists its resources by name.
func (c *Catalog) APIResources(group, version string) metav1.APIResourceList {
	out := metav1.APIResourceList{GroupVersion: version, APIResources: []metav1.APIResource{}}
	if group != "" {
		out.GroupVersion = group + "/" + version
	}
	for v := range c.In(group, version) {
		out.APIResources = append(out.APIResources, metav1.APIResource{
			Name: v.Plural, SingularName: v.Singular, Namespaced: v.Namespaced, Kind: v.Kind, Verbs: v.Verbs,
			ShortNames: v.ShortNames, Categories: v.Categories, StorageVersionHash: v.storageHash(),
		})
		for _, sub := range v.Subresources() {
			resource := metav1.APIResource{
				Name: v.Plural + "/" + sub.Name, Namespaced: v.Namespaced, Kind: sub.Kind.Kind, Verbs: sub.Verbs,
			}
			if sub.Kind.Group != v.Group {
				resource.Group, resource.Version = sub.Kind.Group, sub.Kind.Version
			}
			out.APIResources = append(out.APIResources, resource)
		}
	}
	return out
}

// storageHash identifies the kind that objects are stored as: 8 bytes of a hash over group, version and kind. It is empty for virtual
// resources.
func (v *Version) storageHash() string {
	if v.Virtual || !v.Has("list") {
		return ""
	}
	stored := v.Hashed
	if stored == "" {
		stored = v.Group + "/" + v.Stored
	}
	sum := sha256.Sum256([]byte(stored + "/" + v.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// Aggregated returns the aggregated discovery document: of the core group if core, else of all other groups.
func (c *Catalog) Aggregated(core bool) apidiscovery.APIGroupDiscoveryList {
	out := apidiscovery.APIGroupDiscoveryList{Items: []apidiscovery.APIGroupDiscovery{}}
	out.Kind, out.APIVersion = "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"
	for _, g := range c.Groups() {
		if (g.Name == "") != core {
			continue
		}
		item := apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: g.Name}}
		for _, version := range g.Versions {
			item.Versions = append(item.Versions, c.aggregatedVersion(g.Name, version))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

func (c *Catalog) aggregatedVersion(group, version string) apidiscovery.APIVersionDiscovery {
	out := apidiscovery.APIVersionDiscovery{Version: version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}
	for v := range c.In(group, version) {
		scope := apidiscovery.ScopeCluster
		if v.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		resource := apidiscovery.APIResourceDiscovery{
			Resource: v.Plural, Scope: scope, SingularResource: v.Singular, Verbs: v.Verbs, ShortNames: v.ShortNames,
			Categories: v.Categories, ResponseKind: v.responseKind(v.GVK()),
		}
		for _, sub := range v.Subresources() {
			resource.Subresources = append(resource.Subresources, apidiscovery.APISubresourceDiscovery{
				Subresource: sub.Name, Verbs: sub.Verbs, ResponseKind: v.responseKind(sub.Kind),
			})
		}
		out.Resources = append(out.Resources, resource)
	}
	return out
}

// responseKind returns a kind as aggregated discovery names it. A built-in kind omits a group and version equal to those of its resource.
func (v *Version) responseKind(kind schema.GVK) *metav1.GroupVersionKind {
	out := metav1.GroupVersionKind(kind)
	if !v.Custom && kind.Group == v.Group && kind.Version == v.Name {
		out.Group, out.Version = "", ""
	}
	return &out
}

// VersionNames returns all group versions of the catalog, such as apps/v1, in bytewise order.
func (c *Catalog) VersionNames() []string {
	var out []string
	for _, g := range c.Groups() {
		for _, v := range g.Versions {
			if g.Name != "" {
				v = g.Name + "/" + v
			}
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}
