// Package tables says what Tables show of built-in kinds: their columns, as kube-apiserver describes them, and what an object has
// in each.
//
// [Of] is the way in. The columns are data that was recorded from kube-apiserver (columns.json.gz); a row is a list of cells
// ([cell]), which stand in the files that are named after groups of kinds.
package tables
