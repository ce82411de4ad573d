// Package keywords validates custom resources by the validation keywords and formats of their schema, without its CEL rules. Package rules adds
// these. kube-openapi's validator finds the error texts.
//
// Most objects are valid. The library needs a copy of the object in maps, and a validator for each part, to find that out. A [Schema]
// therefore judges an object first on its own: [Schema.Sound] walks it along compiled nodes. [Schema.Faults] calls the library only for
// parts in which the walk finds an error or a keyword that it cannot judge. So each error text is the library's.
//
// The package needs no CEL and no API machinery of definitions, whose initialization takes time: the command line imports it.
package keywords
