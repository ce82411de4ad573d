// Package jsonpath finds what the JSON paths of printer columns lead to, as the library of kube-apiserver does, client-go's
// util/jsonpath, which parses them.
//
//	Compile  parses a path
//	First    returns the first value at it
//
// Why not the library: descendants of descendants, as in ..a..a, are as many as the depth of an object to the power of their number, and the
// library holds all of them. Here a search is given up once it visited [MaxSteps] values. And members of objects come in the order of their names, where
// the library has any order.
package jsonpath
