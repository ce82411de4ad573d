package discovery

import (
	"cmp"
	"slices"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/server/aggregation"
	"github.com/deed-project/deed/server/catalog"
)

// coreVersions returns the document of discovery about the core group, at a server with the given address.
func coreVersions(address string) *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}},
	}
}

// groupList returns the document of discovery about all groups but the core group: the group of APIServices, and the groups that they register.
func groupList(c *catalog.Catalog, registered []catalog.Group) *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	if own, ok := c.Group(aggregation.Group); ok {
		out.Groups = append(out.Groups, own.APIGroup())
	}
	for _, g := range registered {
		out.Groups = append(out.Groups, g.APIGroup())
	}
	return out
}

// apiGroup returns the document of discovery about a group.
func apiGroup(g catalog.Group) *metav1.APIGroup {
	out := g.APIGroup()
	out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return &out
}

// merged returns the aggregated document of discovery with the versions of other servers, of the core group if core and else of all others.
// They replace versions that this server has itself. Groups are in the order of their highest priority.
func merged(list apidiscovery.APIGroupDiscoveryList, remote []aggregation.Version, core bool) apidiscovery.APIGroupDiscoveryList {
	priorities, within := map[string]int32{}, map[[2]string]int32{}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			of := catalog.PriorityOf(g.Name, v.Version)
			priorities[g.Name], within[[2]string{g.Name, v.Version}] = max(priorities[g.Name], of.Group), of.Version
		}
	}
	for _, r := range remote {
		if (r.Group == "") != core {
			continue
		}
		i := slices.IndexFunc(list.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == r.Group })
		if i < 0 {
			i = len(list.Items)
			list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: r.Group}})
		}
		g := &list.Items[i]
		g.Versions = append(slices.DeleteFunc(g.Versions, func(v apidiscovery.APIVersionDiscovery) bool { return v.Version == r.Discovery.Version }), r.Discovery)
		priorities[g.Name], within[[2]string{g.Name, r.Discovery.Version}] = max(priorities[g.Name], r.Priority), r.Within
	}
	for _, g := range list.Items {
		slices.SortFunc(g.Versions, func(a, b apidiscovery.APIVersionDiscovery) int {
			return cmp.Or(cmp.Compare(within[[2]string{g.Name, b.Version}], within[[2]string{g.Name, a.Version}]),
				version.CompareKubeAwareVersionStrings(b.Version, a.Version))
		})
	}
	slices.SortFunc(list.Items, func(a, b apidiscovery.APIGroupDiscovery) int {
		return cmp.Or(cmp.Compare(priorities[b.Name], priorities[a.Name]), cmp.Compare(a.Name, b.Name))
	})
	return list
}
