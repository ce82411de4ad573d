// Package validation knows what kube-apiserver refuses of the values of built-in kinds that people write most: pods, what makes pods of a
// template, services and what leads to them, who may do what, and how much there may be of something.
//
// Its nouns: a place is a value in an object and the way to it; a report is what was found wrong so far. There is a function for each part
// of an object, which calls those of the parts in it, in the order in which kube-apiserver reports them. What is found is in its words:
// they are facts, and where the library has them, they come from there.
//
// A walk looks at each value a bounded number of times, and allocates nothing where nothing is wrong but sets of names.
//
// Other kinds have rules as data, in schema/builtin. What is known not to be checked is in docs/divergences.md.
package validation
