// Package ownership inspects and edits managed fields. It lists the owners of each part of an
// object, finds problems in its managed fields, and gives fields to other managers.
//
//   - [Owners] lists the owners of each part of an object, and [Extract] returns the configuration
//     that a manager applied.
//   - [Check] finds problems in managed fields, and problems that will come soon.
//   - [Transfer] gives fields to another manager. [Migrate] gives fields of client-side apply to
//     server-side apply. [EntriesPatch] makes the patch for either in a cluster. [PlanMigration]
//     shows beforehand the effects of a migration and of the next apply.
//   - [ApplyAsKubectl] applies with the migration that kubectl does by itself.
//   - [WouldChange] reports whether an apply changes anything, and whether it changes only
//     notation.
//
// The package uses the field managers of package managedfields, and writes nothing by itself.
package ownership
