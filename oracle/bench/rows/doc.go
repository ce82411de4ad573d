// Package rows is the table of what the benchmark compares.
//
// A [Row] is one piece of work on one object, done by deed and by the peer: the field manager of k8s.io/apimachinery, or
// structured-merge-diff for the engine's own operations. What a piece of work includes is the same on both sides, and said
// in the description of the row's [Group].
package rows
