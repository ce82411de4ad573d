// Package jsonpath evaluates the JSON paths of printer columns, as kube-apiserver's library does: client-go's util/jsonpath, which also
// parses them.
//
//	Compile  parses a path
//	First    returns the first value at a path
//
// Why not the library: a path of repeated descendants, such as ..a..a, selects up to d to the power of k values, for depth d and k steps.
// The library holds all of them. This package ends a search after [MaxSteps] values. It also visits the members of objects by name, where
// the library uses map order.
package jsonpath
