// Package schema describes the topology of objects as it is written, by the API of structured-merge-diff's package of this name.
//
// A [Schema] is compiled to deed's types the first time that a value of it is read. It must not be modified from then on.
package schema
