// Package merge decides who owns the fields of an object, and who conflicts with whom when it
// changes.
//
// A [Manager] is a named actor; [Managers] says which fields each of them owns, as a fieldpath.Set
// in the version that it last wrote. An [Engine] answers the two kinds of writes:
//
//   - [Engine.Apply]: a manager says which fields it wants to have which values. The answer is a
//     [Plan], which holds the merged object, the [Conflicts] with other managers, and one
//     [Decision] for each path that it affects. The caller commits the plan if there is no conflict,
//     or forces it, which decides all conflicts for the applier. A caller that takes some fields
//     alone looks at [Plan.Conflicts] first, and forces the plan if they are all among these fields.
//   - [Engine.Update]: a manager replaces the object. It takes what it changes.
//
// Nothing here knows of metadata, timestamps' meaning or HTTP: package managedfields does. The doc
// comments of Apply and Update list the rules that they follow, numbered as in docs/rules.md.
package merge
