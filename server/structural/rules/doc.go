// Package rules validates custom resources by the CEL rules of their schema, and by its keywords and formats, which package keywords does. The
// libraries of kube-apiserver find the error texts.
//
// Most objects are valid. The libraries need a copy of the object in maps, and a validator for each part, to find that out. A [Rules]
// therefore evaluates rules first on its own, and calls the library only where a rule fails or cannot be evaluated. So each error text is
// the library's.
package rules
