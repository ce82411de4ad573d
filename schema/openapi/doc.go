// Package openapi turns the schemas that Kubernetes publishes into schema documents: OpenAPI v2 ([V2]), OpenAPI v3 ([V3]) and
// CustomResourceDefinitions ([CRD]).
//
// Each conversion gives [Definitions]: a [schema.Document] and the kinds that its types stand for, from which
// [Definitions.Catalog] compiles what the engine uses. The two OpenAPI converters differ in details, because those of Kubernetes
// do; API servers use the one for v3, also for custom resources, and some clients the one for v2.
//
// The package reads the topology out of a schema and nothing else: it checks no values, and ignores enum, pattern, required
// and every other validation.
//
// With the build tag openapi_crdonly, [V2] and [V3] only return an error, and the package imports no other modules: kube-openapi and
// gnostic make half of a small program, such as one for WebAssembly that reads definitions alone.
package openapi
