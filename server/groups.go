package server

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
)

// groupList returns the document of discovery about all groups but the core group.
func groupList(c *catalog.Catalog) metav1.APIGroupList {
	out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{}}
	for _, g := range c.Groups() {
		if g.Name != "" {
			out.Groups = append(out.Groups, g.APIGroup())
		}
	}
	return out
}

// apiGroup returns the document of discovery about a group.
func apiGroup(g catalog.Group) metav1.APIGroup {
	out := g.APIGroup()
	out.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
	return out
}
