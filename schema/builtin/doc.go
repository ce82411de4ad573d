// Package builtin describes the kinds that Kubernetes itself serves. With it, deed types their objects without a
// cluster, and computes the objects that kube-apiserver stores.
//
// [Catalog] has the schemas for merging: those of every kind of the built-in API groups that can be applied, of
// CustomResourceDefinition, and of APIService. A [Kind] has the rest: names, subresources, the form of objects,
// default values, conversions, and the fields that an endpoint does not write. [Config] combines both for a field
// manager.
//
// All data is from Kubernetes v1.37. It is generated from the files that Kubernetes publishes for clients, and from
// the types of its server. Only the rules for default values, in defaults.txt, are written by hand. docs/builtin.md
// has a row for each kind. For the types of a custom resource, read its CustomResourceDefinition.
//
// [ReleaseOf] has the kinds of earlier releases: their schemas, the versions that they serve, and how they merge.
// Forms, default values and reset fields are those of v1.37, without fields that came later: see docs/releases.md.
package builtin

//go:generate go run ../../oracle/genschema
//go:generate env GOWORK=off go -C ../../oracle/kube run ./generate ../../schema/builtin
//go:generate go -C ../../oracle run ./releases/generate ../schema/builtin
