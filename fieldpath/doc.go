// Package fieldpath names the fields of objects and holds sets of them.
//
// Its nouns:
//
//   - An [Element] is one step into an object. A [Field] selects by name, a [Key] by the key fields
//     of a list item, an [Item] by the value of a set item, an [Index] by position. Elements are
//     compared with ==.
//   - A [Path] is a sequence of elements, such as .spec.containers[name="web"].image.
//   - A [Set] is an immutable set of paths. A path is a member independently of the paths above and
//     below it. A [Builder] makes sets. [ParseSet] reads the fieldsV1 of managedFields, and
//     [Set.AppendJSON] writes it. [Set.Union], [Set.Intersect], [Set.Minus] and [Set.Without]
//     combine sets.
//   - A [Pattern] selects the paths of a set by prefixes with wildcards.
//
// Elements sort by kind: fields, keys, items, indexes. Within a kind they sort by name, by key
// fields, by value or by number. Output and iteration follow this order.
//
// The package knows only the names of fields. It has no schemas, objects or owners.
package fieldpath
