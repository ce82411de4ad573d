// Package model has naive twins of what packages fieldpath, typed and merge do, for tests. They are written to be obviously
// right: sets are maps, searches are loops, and nothing is shared or kept.
//
//   - [Set] and its operations twin fieldpath.Set.
//   - [Merge] twins typed.Merge.
//   - [State] twins merge.Engine, for objects with one version.
package model
