// Package schema describes the topology of objects: the fields of an object, the lists that are
// sets or keyed, and the atomic values. A manager owns an atomic value as a whole.
//
// A [Document] is a schema as people and converters write it: named type definitions that refer to
// each other. [Compile] resolves every reference once and returns a graph of types. The engine
// walks a [Type]: it is immutable, safe for concurrent use, and needs no lookup of a type by name.
// A [Catalog] finds the Type of a Kubernetes kind by its [GVK].
//
// The package does not read values: package typed does. It reads neither YAML nor OpenAPI: see
// schema/yaml and schema/openapi.
package schema
