// Package fieldpath names the fields of objects and holds sets of them. It has the API of structured-merge-diff's package
// fieldpath.
//
// A [Set] has one of two forms. A set from fieldsV1 or from package typed wraps an immutable set of deed. Operations on the whole
// set run in deed, and copies are free. An insertion turns the set into a tree of elements of this package, one level at a time.
// [NewSet] returns such a tree. [Set.Equals] compares the paths of both forms; reflect.DeepEqual also compares forms and caches.
//
// Sets that share storage never see each other's changes. The exception is [SetNodeMap.Descend], which returns a part of a set
// for changes. Callers should not modify the sets that [SetNodeMap.Get] and [Set.WithPrefix] return.
package fieldpath
