// Package rules validates custom resources by the keywords, formats and rules in CEL of their
// schema, with the texts of kube-apiserver: the libraries that kube-apiserver uses find them.
//
// Most objects have nothing wrong, and the libraries need a copy of the object in maps and a
// validator for each of its parts to find that out. So a [Rules] looks first by itself:
// [Rules.Values] judges an object along a schema compiled for that, and asks the library only if it
// finds something, or comes to something that it does not judge. What it says is therefore always
// the library's.
package rules
