// Package recording reads recorded requests to real API servers with their answers, and compares answers with them.
//
// A [Scenario] is the history of one custom resource: the CustomResourceDefinition of its kind and its [Step]s. A step is a
// request with the server's answer. A server under test gives an [Answer] to each request; [Compare] reports differences from the
// recorded one.
//
// A [History] belongs to one object of a built-in kind on a kube-apiserver. It includes the stored object before and after each
// request. A [Tally] counts the comparisons, and skips the fields that only that server could know.
//
// [Load] reads files of any other form, with one JSON text a line.
package recording
