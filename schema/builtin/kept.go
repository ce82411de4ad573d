package builtin

import (
	"slices"

	"github.com/deed-project/deed/fieldpath"
)

// LeavesOut reports whether a server may store nothing at path although it accepted a value there. This is true for members that
// a Go type leaves out when empty. Empty values are false, 0, "", null, and a list or map without items. The manager that applied
// such a value still owns the path. Items of lists and members of maps are never left out.
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

// Folded returns the path at which a server stores the value written to path. The texts in a Secret's stringData are stored in
// data. The result is path itself for every other field. The manager owns path, not the result.
func (k *Kind) Folded(path fieldpath.Path) fieldpath.Path {
	gvk := k.known().GVK
	if gvk.Group != "" || gvk.Kind != "Secret" || len(path) == 0 || path[0] != fieldpath.Field("stringData") {
		return path
	}
	folded := slices.Clone(path)
	folded[0] = fieldpath.Field("data")
	return folded
}
