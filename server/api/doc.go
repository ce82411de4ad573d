// Package api holds the nouns of requests to an API server: what a path names ([Target]), what a query asks for ([WriteOptions],
// [DeleteOptions], [ListOptions]), how a request is refused (the errors that [StatusOf] turns into metav1.Status), the warnings
// that go with an answer ([Warnings]), and the rules for metadata that hold for objects of every kind.
//
// The package knows no kinds, no storage and no HTTP server. Texts are those of kube-apiserver v1.37; where its own libraries
// make them, they are called.
package api
