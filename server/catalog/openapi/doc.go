// Package openapi makes the OpenAPI documents of a catalog: [V3] for each group version, and [V2] for the whole catalog.
//
// Schemas of custom resources come from their definitions, schemas of built-in kinds from their Go types. The documents contain the parts
// that clients use: the operations of each kind, their support for field validation, and the schema of every kind with its group, version
// and kind.
package openapi
