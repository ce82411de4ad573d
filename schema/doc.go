// Package schema describes the topology of objects: which fields an object has, which lists are
// sets or keyed, and what is atomic, that is, owned as a whole.
//
// A [Document] is a schema as people and converters write it: named type definitions that refer to
// each other. [Compile] resolves every reference once and gives a graph of types. A [Type] is what
// the engine walks: immutable, safe for concurrent use, and without any lookup of a type by name. A
// [Catalog] finds the Type of a Kubernetes kind by its [GVK].
//
// The package does not look at values: package typed does. It reads no YAML and no OpenAPI: see
// schema/openapi.
package schema
