// Package admission decides about writes on their way to the store, as the admission chain of kube-apiserver does.
//
// A [Request] describes the write: the object, the endpoint and the user. A [Chain] is a list of plugins. [Chain.Mutate] lets each plugin
// change the object. Once the object is prepared and valid, [Chain.Validate] lets each plugin refuse it. Callers implement [Plugin], or
// pass functions to [Mutate] and [Validate]. Package webhook has the plugin that calls webhooks.
package admission
