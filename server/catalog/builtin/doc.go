// Package builtin makes resources of kinds that are part of Kubernetes, which are Go types there: a [Form] decodes and prints
// objects as their Go type does. It has the kinds that every server needs; see [Namespaces].
package builtin
