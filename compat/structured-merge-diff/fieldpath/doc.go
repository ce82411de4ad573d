// Package fieldpath names the fields of objects and holds sets of them, by the API of structured-merge-diff's package of this
// name.
//
// A [Set] is in one of two forms. Sets that come from fieldsV1 or from package typed wrap a set of deed, which is immutable:
// everything that is done to them as a whole is done there, and copies are free. A set becomes a tree of elements of its own, one
// level at a time, when something is inserted. Sets of [NewSet] are such trees from the beginning.
//
// Sets that share storage never see each other's changes. The exception is [SetNodeMap.Descend], which is there to change a part
// of a set; what [SetNodeMap.Get] and [Set.WithPrefix] return should not be modified.
package fieldpath
