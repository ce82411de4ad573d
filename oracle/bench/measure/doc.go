// Package measure finds what work costs: the time of an operation, its allocations, and the memory that its result keeps.
//
// A [Side] is one way to do a piece of work; [Compare] measures two of them in turn, sample by sample, so that whatever else
// the machine does weighs on both alike. The cost of a side is the median of its samples, and the ratio of two sides that of
// the samples that were taken next to each other.
package measure
