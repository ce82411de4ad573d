package builtin

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
)

// LeavesOut reports whether a server may have nothing at path in an object although it took a value there. So it is for the members
// that a Go type leaves out when they are empty: false, 0, "", null, or a list or map without items. Who applied such a value owns
// the path all the same. Items of lists, and members of maps, are never left out.
func (k *Kind) LeavesOut(path fieldpath.Path) bool {
	t := k.Form()
	for i, e := range path {
		last := i == len(path)-1
		switch {
		case t == nil:
			return false
		case e.Kind() != fieldpath.KindField:
			t = t.Item()
		case last:
			return t.Omits(e.Name())
		default:
			t = t.Member(e.Name())
		}
	}
	return false
}

// Folded returns where a server keeps what is written to path: the texts of a Secret's stringData are in its data. It is path itself
// for every other field. The owner of what is folded owns path, not the path that is returned.
func (k *Kind) Folded(path fieldpath.Path) fieldpath.Path {
	gvk := k.known().GVK
	if gvk.Group != "" || gvk.Kind != "Secret" || len(path) == 0 || path[0] != fieldpath.Field("stringData") {
		return path
	}
	folded := slices.Clone(path)
	folded[0] = fieldpath.Field("data")
	return folded
}
