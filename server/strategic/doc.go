// Package strategic applies strategic merge patches, the patches of kubectl for built-in kinds. They merge lists by the keys of items. The
// tags of Go types name the keys.
//
// The outcomes and error texts are those of strategicpatch.StrategicMergeMapPatch in k8s.io/apimachinery, where those are deterministic.
// The library visits the members of a patch in map order, this package by name. If a list has equal texts, the library's order depends on
// the capacity of a slice. Where the library panics, this package does not: an object or a list as a merge key equals no other key, and a
// null item is an error.
//
// The cost is linear in the lengths of object and patch, because a map finds items by key; the library is quadratic. Only items of a patch
// with equal keys are merged one after the other, at the cost of the merged item each.
package strategic
