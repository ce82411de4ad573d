// Package gitops compares desired objects with live ones as a server-side apply would change them, without a write.
//
// [Diff] computes what a server would store if a manager applied an object, and how this differs from the live object. It needs no
// server: built-in kinds are known, and a [kube.Registry] adds the kinds of definitions and OpenAPI documents. A [Cluster] finds the
// live object and the schema of a kind through a client that may only read.
//
// A [Result] is data: each [Change] has a path and the values before and after. Fields that the schema lacks are kept and listed, and
// are no error. A [Conflict] names the owner of a field and what to do about it. [Rules] leave out fields: they are read as Argo CD
// reads ignoreDifferences ([IgnoreDifferences]), and as Flux reads the rules of its drift detection ([IgnoreRule]).
//
// What only a server can know is not predicted: what admission, webhooks and allocation do to the object, and whether validation
// refuses it.
package gitops
