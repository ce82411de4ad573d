// Package histories lets the field manager of k8s.io/apimachinery and deed's answer the same long, random histories of
// writes, and compares them after every write: object, managed fields and status, byte for byte.
//
// A [World] is a kind of object with the endpoints that serve it, each with both engines behind it: built-in kinds held as
// Go structs, whose versions a scheme converts, built-in kinds held as unstructured objects, and custom resources of random
// definitions. An [Op] is one write with everything that was sent; a [Script] is a world and its writes, readable as a file.
// A [Writer] makes up the next write for the object as it is. Whatever differs is a [Difference], which [Shrink] reduces to
// the shortest script that still shows it.
package histories
