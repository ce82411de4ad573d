// Package webhook calls admission webhooks for writes, as kube-apiserver does. MutatingWebhookConfigurations and
// ValidatingWebhookConfigurations name the webhooks.
//
// [Hooks] is the plugin. [Compile] compiles a configuration into hooks once per change. Each write then takes these steps:
//
//	match   which hooks the write is for: match.go, condition.go
//	ask     each with an AdmissionReview, over HTTP: review.go, client.go
//	patch   the object, for hooks that mutate: mutate.go
//	refuse  the write, if a hook denies it or fails: validate.go, failure.go
//
// Where kube-apiserver uses a library, this package uses the same one: the HTTP client, CEL, and JSON patches. The departures of those
// libraries from RFC 6902 are therefore the same.
package webhook
