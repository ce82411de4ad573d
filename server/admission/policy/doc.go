// Package policy enforces admission policies in CEL, as kube-apiserver does: MutatingAdmissionPolicy and ValidatingAdmissionPolicy with their
// bindings.
//
// [Policies] is the plugin. It takes policies and bindings as objects, and reads everything else through [Config] and the request, so that
// it works without a server, too. A request takes these steps:
//
//	match       which policies and bindings it meets: match.go
//	params      the parameters of each binding: params.go
//	evaluate    the expressions: compile.go, evaluation.go
//	mutate      the object, by the outcome of expressions: mutate.go, patch.go
//	validate    refuse, warn or annotate: validate.go
//
// What deed does itself, and what a library does: docs/decisions/0036-policies-follow-the-store.md. Package typecheck finds expressions that
// do not fit the types of what a policy matches.
package policy
