// Package admission decides about writes on their way to the store, as the admission chain of kube-apiserver does.
//
// A [Request] says what is to be written, where and by whom. A [Chain] is a list of plugins that are told of it: first each may
// change the object ([Chain.Mutate]), and once it is prepared and valid, each may refuse it ([Chain.Validate]). A plugin of the
// caller's own is a [Plugin], or one of the functions [Mutate] and [Validate]; package webhook asks webhooks.
package admission
