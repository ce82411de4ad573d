// Package structural applies the structural schema of a custom resource to objects. It removes
// unknown fields, fills in defaults, drops nulls, makes metadata canonical, and finds duplicate
// items of lists. It does not validate otherwise.
//
// [Compile] makes a [Schema] from the openAPIV3Schema of a version. A [FieldError] describes a
// defect of an object in the words of an API server. A schema has one method for each step of
// reading an object:
//
//	request, stored text
//	      │
//	  Decode, Load     metadata in its canonical form, Prune, DropNulls, Coerce: in this order
//	      │
//	   Default         missing members and nulls that are not admitted
//	      │
//	 Duplicates        the one part of validation that is about structure
//
// All methods are safe for concurrent use. No method modifies its argument. The result shares
// storage with the argument, and is the same value, see [value.Value.Same], if nothing changed. A
// method visits a part of an object at most once, and skips parts for which the schema has no rule.
// It looks up a member by name in constant time. The cost therefore grows with the size of the
// object, not with that of the schema. Paths become text only for reports.
//
// The package does not read other validation keywords, formats, CEL rules or OpenAPI documents. It
// does not check whether a definition is valid: schemas with defects compile, see [Compile].
package structural
