// Package histories runs long, random histories of writes in the field manager of k8s.io/apimachinery and in deed's. After every write it
// compares object, managed fields and status, byte for byte.
//
// A [World] is a kind of object with its endpoints, each with both engines. There are built-in kinds as Go structs, whose versions a scheme
// converts, built-in kinds as unstructured objects, and custom resources of random definitions. An [Op] is one complete write. A [Script]
// is a world and its writes, in a readable file. A [Writer] makes the next write for the current object. A [Difference] is an answer in
// which the engines differ; [Shrink] reduces it to the shortest script that shows it.
package histories
