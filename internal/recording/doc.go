// Package recording reads what real API servers were asked and what they answered, and compares
// answers with it.
//
// A [Scenario] is the history of one custom resource: the CustomResourceDefinition of its kind and
// the [Step]s, each a request with the answer that the server gave. Whoever answers the same
// requests has an [Answer] for each; [Compare] says where it differs from the recorded one.
//
// A [History] is that of one object of a built-in kind on a kube-apiserver, with what was stored
// before and after each request. A [Tally] counts what was compared with it, without what only that
// server could know.
//
// [Load] reads files of any other form, one JSON text a line.
package recording
