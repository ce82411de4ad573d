// Package ownership is what people do with managed fields once they are there: it tells whose each
// part of an object is, what is wrong with its managed fields, and how to give them to others.
//
//   - [Owners] tells whose each part of an object is, and [Extract] gives the configuration that a
//     manager applied.
//   - [Check] finds what is wrong with managed fields, or will be soon.
//   - [Transfer] gives fields to another manager, [Migrate] gives those of client-side apply to
//     server-side apply; [EntriesPatch] carries either out in a cluster, and [PlanMigration] shows
//     before what the next apply then does.
//   - [ApplyAsKubectl] applies with the migration that kubectl does by itself.
//   - [WouldChange] tells whether an apply changes anything, and whether that is more than
//     notation.
//
// It asks the field managers of package managedfields and carries out no write of its own.
package ownership
