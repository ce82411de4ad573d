// Package structural carries out what the structural schema of a custom resource says about
// objects, short of validating them: which fields are unknown and go, which defaults are filled in,
// which nulls are dropped, what the metadata of objects looks like, and which lists hold an item
// twice.
//
// Its nouns are the [Schema], compiled once from the openAPIV3Schema of a version by [Compile], and
// the [FieldError], which says what is wrong with an object in the words of an API server. A schema
// has one method for each step of reading an object:
//
//	request, stored text
//	      │
//	  Decode, Load     metadata in its canonical form, Prune, DropNulls, Coerce: in this order
//	      │
//	   Default         missing members and nulls that are not admitted
//	      │
//	 Duplicates        the one part of validation that is about structure
//
// All methods are safe for concurrent use. None modifies the object that it is given: what comes
// back shares storage with it, and is the same value, see [value.Value.Same], when there was
// nothing to do. Each visits a part of an object at most once, leaves out what its schema has
// nothing to say about, and looks up a member by its name in constant time, so that its cost grows
// with the size of the object and not with that of the schema. Paths are put together only for what
// is reported.
//
// The package does not know other keywords of validation, formats, rules in CEL, OpenAPI documents,
// or what a valid definition is: schemas with defects compile, see [Compile].
package structural
