// Package strategic applies strategic merge patches to values: the patches of kubectl for built-in kinds, whose lists are merged by the
// keys of their items. Which lists are, and by which key, is in the tags of Go types.
//
// It answers what strategicpatch.StrategicMergeMapPatch of k8s.io/apimachinery answers, texts of errors included, where that is not left to
// chance. There, the members of a patch are looked at in the order of a map, here in that of their names; and a list that has the same
// text twice changes its order there, depending on the room behind it, and not here. Where the library panics, this package does not: an
// object or a list as a merge key is like no other, and an item that is null is an error.
//
// The cost grows with the length of object and patch, as items are found by their keys; that of the library grows with the square. Only
// items of a patch that have the same key are merged one after the other, each of which costs as much as the item has members.
package strategic
