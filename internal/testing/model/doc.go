// Package model has simple twins of functions of fieldpath, typed and merge, for tests. They are written to be obviously correct:
// sets are maps, searches are loops, and no memory is shared or reused.
//
//   - [Set] and its operations twin fieldpath.Set.
//   - [Merge] twins typed.Merge.
//   - [State] twins merge.Engine, for objects with one version.
package model
