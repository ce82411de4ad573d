// Package managedfields is the field manager of kube-apiserver: it applies configurations to API objects, updates them, and
// keeps their metadata.managedFields.
//
// An [Object] is an API object with its managed fields taken out of it: the fields are not data of the object, and an [Entry]
// that nobody touches is never read as such. A [FieldManager] serves one endpoint, that is, one kind in one version, and
// computes what kube-apiserver would store there: [FieldManager.Apply] for server-side apply, [FieldManager.Update] for
// every other write, and [FieldManager.Plan] for an apply that is not decided yet.
//
// A write is a list of steps, each a function in a file of its own; see planSteps, finishSteps and updateSteps in
// fieldmanager.go. Who owns what is decided by package merge, which the steps mergeConfig and mergeUpdate call.
//
// Around writes there is more to do with managed fields: [ScaleHandler] carries them to the subresource scale and back, [Extract]
// turns them into the configuration that was applied, [Migrate] and [Transfer] give them to others, [Owners] tells whose each
// part of an object is, and [Check] what is wrong with them.
//
// The package knows nothing of HTTP, storage and admission; the caller does what the server does around a field manager.
package managedfields
