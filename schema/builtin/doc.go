// Package builtin knows the kinds that Kubernetes itself serves, so that deed can type their objects without a
// cluster, and can answer what kube-apiserver stores of them.
//
// [Catalog] has the schemas by which objects are merged: those of every kind of the built-in API groups that can be
// applied, of CustomResourceDefinition, and of APIService. A [Kind] is what else there is to know: names and
// subresources, the form of its objects, default values, conversion to other versions, and what an endpoint does
// not write. [Config] puts it all together for a field manager.
//
// All is that of Kubernetes v1.37, generated from what Kubernetes publishes for its clients and from its server's
// own types; the rules for default values, in defaults.txt, are written by hand. docs/builtin.md has a row for each
// kind. The types of custom resources are not here: read those from a CustomResourceDefinition.
//
// [ReleaseOf] has the kinds of earlier releases: their schemas, the versions that they serve, and how they merge. Forms, default values and
// reset fields are those of v1.37, without fields that came later: see docs/releases.md.
package builtin

//go:generate go run ../../oracle/genschema
//go:generate env GOWORK=off go -C ../../oracle/kube run ./generate ../../schema/builtin
//go:generate go -C ../../oracle run ./releases/generate ../schema/builtin
