// Package openapi makes the OpenAPI documents of a catalog: [V3] makes one for each path of [Paths], and [V2] makes one of the whole catalog.
//
// A document has two parts. The paths follow from the resources of the catalog by the rules of kube-apiserver (routes.go, custom.go), and are
// printed as v3 or v2. Schemas of custom resources come from their definitions (schema.go, swagger.go). Schemas of Go types come from a file
// that holds them as kube-apiserver publishes them (published.go). It is decompressed when a document is first made.
package openapi
