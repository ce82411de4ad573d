// Package managedfields is the field manager of kube-apiserver: it applies configurations to API
// objects, updates them, and keeps their metadata.managedFields.
//
// An [Object] is an API object without its managed fields, which stand beside it as a list of
// [Entry]. The fieldsV1 of an entry is read only when a write or a caller needs it. A
// [FieldManager] serves one endpoint, that is, one kind in one version. It computes what
// kube-apiserver would store there. [FieldManager.Apply] is server-side apply,
// [FieldManager.Update] is every other write, and [FieldManager.Plan] is an apply that is not
// decided yet.
//
// A write is a list of steps, to be read from top to bottom. The steps of an apply are in
// [FieldManager.Plan] and, after conflicts are decided, in Plan.finish. The steps of an update are
// in [FieldManager.Update]. The steps mergeConfig and mergeUpdate call package merge, which decides
// ownership. [ScaleEntries] and [EntriesAfterScale] carry managed fields to the subresource scale
// and back.
//
// [ParseObject], [ObjectFromAny] and [ObjectOf] read objects; a [Decoder] reads several related
// objects.
//
// Package ownership answers questions about stored managed fields, such as which manager owns a
// field.
//
// The package knows nothing of HTTP, storage and admission. The caller does everything that a
// server does around its field manager.
package managedfields
