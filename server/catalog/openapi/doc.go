// Package openapi makes the OpenAPI documents of what a catalog serves: [V3], one for each version of a group.
//
// Schemas of custom resources are those of their definitions, those of built-in kinds are read off their Go types. What clients
// look for is there: which operations a kind has, whether they take field validation, and the schema of every kind with its
// group, version and kind.
package openapi
