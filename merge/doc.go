// Package merge computes the owners of the fields of an object, and the conflicts between managers
// when a write changes the object.
//
// A [Manager] is a named actor. [Managers] holds the fields of each manager, as a fieldpath.Set in
// the version of the manager's last write. An [Engine] computes the outcome of the two kinds of
// writes:
//
//   - [Engine.Apply]: a manager says which values some fields should have. The outcome is a [Plan]
//     with the merged object, the [Conflicts] with other managers, and one [Decision] for each
//     affected path. [Plan.Force] returns the result, with all conflicts decided for the applier. A
//     caller that may take only some fields, or none, checks [Plan.Conflicts] before it forces the
//     plan.
//   - [Engine.Update]: a manager replaces the object. It owns the fields that it changes.
//
// The package does not know metadata, the meaning of timestamps, or HTTP: package managedfields
// does. The doc comments of Apply and Update list the rules that they follow, numbered as in
// docs/rules.md.
package merge
