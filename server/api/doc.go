// Package api holds the nouns of API requests. [Target] is what a path names. [WriteOptions] and [ListOptions] are queries. [StatusOf] turns an
// error into the metav1.Status of a refusal, and [Warnings] go with an answer. The package also has the rules for the metadata of all kinds.
//
// The package does not know kinds, storage or HTTP servers. Its texts are those of kube-apiserver v1.37. Where a library of kube-apiserver
// writes a text, this package calls the library.
package api
