// Package simulation answers the requests of recordings as an API server for custom resources does: the few lines of
// kube-apiserver around package managedfields, without HTTP, storage and admission. It serves tests only.
//
// A [Server] has one kind, takes the steps of a scenario one after the other, and returns an answer for each.
//
// What the server does: it decodes, prunes and defaults by the structural schema, keeps managed fields, validates types,
// required fields and the uniqueness of list items, restores what an endpoint does not write, counts generations, and stores
// objects in the storage version of the definition (conversion strategy None). What it does not know: other keywords of
// validation and rules in CEL, finalizers, owner references, JSON patches, lists
// and watches.
package simulation
