// Package merge decides who owns the fields of an object, and who conflicts with whom when it
// changes.
//
// A [Manager] is a named actor; [Managers] says which fields each of them owns, as a fieldpath.Set
// in the version that it last wrote. An [Engine] answers the two kinds of writes:
//
//   - [Engine.Apply]: a manager says which fields it wants to have which values. The answer is a
//     [Plan], which holds the merged object, the [Conflicts] with other managers, and one
//     [Decision] for each path that it affects, and which the caller commits, forces or forces in
//     part.
//   - [Engine.Update]: a manager replaces the object. It takes what it changes.
//
// Nothing here knows of metadata, timestamps' meaning or HTTP: package managedfields does. The doc
// comments of Apply and Update list the rules that they follow, numbered as in docs/rules.md.
package merge
