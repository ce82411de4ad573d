// Package managedfields is the field manager of kube-apiserver: it applies configurations to API
// objects, updates them, and keeps their metadata.managedFields.
//
// An [Object] is an API object with its managed fields taken out of it: the fields are not data of
// the object, and an [Entry] that nobody touches is never read as such. A [FieldManager] serves one
// endpoint, that is, one kind in one version, and computes what kube-apiserver would store there:
// [FieldManager.Apply] for server-side apply, [FieldManager.Update] for every other write, and
// [FieldManager.Plan] for an apply that is not decided yet.
//
// A write is a list of steps that is read from top to bottom: in [FieldManager.Plan] and, once
// conflicts are decided, in Plan.finish; and in [FieldManager.Update]. Who owns what is decided by
// package merge, which the steps mergeConfig and mergeUpdate call. [ScaleEntries] and
// [EntriesAfterScale] carry managed fields to the subresource scale and back.
//
// Objects are read by [ParseObject], [ObjectFromAny] and [ObjectOf]; a [Decoder] reads several that
// belong together.
//
// What people do with managed fields once they are there, such as asking whose a field is, is
// package ownership's.
//
// The package knows nothing of HTTP, storage and admission; the caller does what the server does
// around a field manager.
package managedfields
