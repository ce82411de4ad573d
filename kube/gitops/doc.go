// Package gitops compares desired objects with live ones as a server-side apply would change them, without a write.
//
// [Diff] computes the object that a server would store if a manager applied an object, and its differences from the live object. It needs
// no server: built-in kinds are known, and a [kube.Registry] adds the kinds of definitions and OpenAPI documents. A [Cluster] finds the
// live object and the schema of a kind through a client with read access only.
//
// A [Result] is data: each [Change] has a path and the values before and after. Fields that the schema lacks are kept and listed, and are
// no error. A [Conflict] names the owner of a field and a remedy. [Rules] leave out fields. They have the meaning of Argo CD's
// ignoreDifferences ([IgnoreDifferences]) and of the rules of Flux's drift detection ([IgnoreRule]).
//
// The package does not predict effects that only a server can know: changes by admission, webhooks and allocation, and the result of
// validation.
package gitops
