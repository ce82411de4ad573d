// Package webhook asks admission webhooks about writes, as kube-apiserver does: those that MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations name.
//
// [Hooks] is the plugin. Configurations are compiled once per change, into hooks ([Compile]); for each write
//
//	match   which hooks the write is for: match.go, condition.go
//	ask     each with an AdmissionReview, over HTTP: review.go, client.go
//	patch   the object, for hooks that mutate: mutate.go
//	refuse  the write, if a hook denies it or fails: validate.go, failure.go
//
// What kube-apiserver does through libraries of its own is done by the same ones here: the HTTP client, CEL, and JSON patches,
// whose departures from RFC 6902 are the behaviour.
package webhook
