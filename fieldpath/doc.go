// Package fieldpath names the fields of objects and holds sets of them.
//
// Its nouns:
//
//   - An [Element] is one step into an object: a [Field] by its name, an item of a keyed list by
//     its [Key], an [Item] of a set by its value, or an item of any other list by its [Index].
//     Elements are compared with ==.
//   - A [Path] is a sequence of elements, such as .spec.containers[name="web"].image.
//   - A [Set] is an immutable set of paths. That a path is a member says nothing of the paths above
//     and below it. Sets are made by a [Builder], read from and written as the fieldsV1 of
//     managedFields ([ParseSet], [Set.AppendJSON]), and combined by [Set.Union], [Set.Intersect],
//     [Set.Minus] and [Set.Without].
//   - A [Pattern] says by prefixes with wildcards which paths of a set to keep.
//
// Elements sort by kind, fields before keys before items before indexes, and within a kind by name,
// by key fields, by value or by number. Everything that is printed or iterated follows that order.
//
// The package knows the names of fields and nothing else: no schema, no objects, no owners.
package fieldpath
