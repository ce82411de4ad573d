package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
)

// coreVersions returns the document of discovery about the core group, at a server with the given address.
func coreVersions(address string) *metav1.APIVersions {
	return &metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: address}},
	}
}

// groupList returns the document of discovery about all groups but the core group.
func groupList(c *catalog.Catalog) *metav1.APIGroupList {
	out := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range c.Groups() {
		if g.Name != "" {
			out.Groups = append(out.Groups, g.APIGroup())
		}
	}
	return out
}

// apiGroup returns the document of discovery about a group.
func apiGroup(g catalog.Group) *metav1.APIGroup {
	out := g.APIGroup()
	out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return &out
}
