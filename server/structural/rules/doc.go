// Package rules validates custom resources by the keywords, formats and CEL rules of their schema. The libraries of kube-apiserver find the
// error texts.
//
// Most objects are valid. The libraries need a copy of the object in maps, and a validator for each part, to find that out. A [Rules]
// therefore judges an object first on its own: [Rules.Values] walks it along a compiled schema. It calls the library only where the walk
// finds an error or a keyword that it cannot judge. So each error text is the library's.
package rules
