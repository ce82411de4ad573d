// Package replay answers the requests of recorded scenarios as an API server for custom resources does: the few lines of
// kube-apiserver around package managedfields, without HTTP, storage and admission.
//
// A [Scenario] is the history of one object: the CustomResourceDefinition of its kind and the [Step]s, each a request with
// the answer that a real server gave. A [Server] has one kind, takes the requests one after the other, and returns a
// [Response] for each; [Compare] says where it differs from the recorded answer.
//
// What the server does: it decodes, prunes and defaults by the structural schema, keeps managed fields, validates types,
// required fields and the uniqueness of list items, restores what an endpoint does not write, counts generations, and stores
// objects in the storage version of the definition (conversion strategy None). What it does not know: other keywords of
// validation and rules in CEL, finalizers, owner references, JSON patches, lists
// and watches.
package replay
