// Package schema describes the topology of objects, in the written form of schemas. It has the API of
// structured-merge-diff's package schema.
//
// A [Schema] is compiled to deed's types when a value of it is first read. It must not be modified afterwards.
package schema
