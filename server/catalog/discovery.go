package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// subresource is an endpoint below the objects of a version.
type subresource struct {
	name, group, version, kind string
	verbs                      []string
}

func (v *Version) subresources() []subresource {
	var out []subresource
	if v.Finalize != nil {
		out = append(out, subresource{"finalize", v.Group, v.Name, v.Kind, []string{"update"}})
	}
	if v.Scale != nil {
		out = append(out, subresource{"scale", ScaleKind.Group, ScaleKind.Version, ScaleKind.Kind, []string{"get", "patch", "update"}})
	}
	if v.Status != nil {
		out = append(out, subresource{"status", v.Group, v.Name, v.Kind, []string{"get", "patch", "update"}})
	}
	for name := range v.Parts {
		out = append(out, subresource{name, v.Group, v.Name, v.Kind, []string{"get", "patch", "update"}})
	}
	for name, kind := range v.Actions {
		out = append(out, subresource{name, kind.Group, kind.Name, kind.Kind, kind.Verbs})
	}
	slices.SortFunc(out, func(a, b subresource) int { return cmp.Compare(a.name, b.name) })
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
		for _, sub := range v.subresources() {
			resource := metav1.APIResource{Name: v.Plural + "/" + sub.name, Namespaced: v.Namespaced, Kind: sub.kind, Verbs: sub.verbs}
			if sub.group != v.Group {
				resource.Group, resource.Version = sub.group, sub.version
			}
			out.APIResources = append(out.APIResources, resource)
		}
	}
	return out
}

// storageHash identifies the kind that objects are stored as: 8 bytes of a hash over group, version and kind. It is empty for virtual
// resources.
func (v *Version) storageHash() string {
	if !v.Has("list") {
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
			Categories: v.Categories, ResponseKind: v.responseKind(v.Group, version, v.Kind),
		}
		for _, sub := range v.subresources() {
			resource.Subresources = append(resource.Subresources, apidiscovery.APISubresourceDiscovery{
				Subresource: sub.name, Verbs: sub.verbs, ResponseKind: v.responseKind(sub.group, sub.version, sub.kind),
			})
		}
		out.Resources = append(out.Resources, resource)
	}
	return out
}

// responseKind returns a kind as aggregated discovery names it. A built-in kind omits a group and version equal to those of its resource.
func (v *Version) responseKind(group, version, kind string) *metav1.GroupVersionKind {
	if !v.Custom && group == v.Group && version == v.Name {
		group, version = "", ""
	}
	return &metav1.GroupVersionKind{Group: group, Version: version, Kind: kind}
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
