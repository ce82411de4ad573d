// Package openapi converts the schemas that Kubernetes publishes to schema documents: OpenAPI v2 ([V2]), OpenAPI v3 ([V3])
// and CustomResourceDefinitions ([CRD]).
//
// Each conversion returns [Definitions]: a [schema.Document], and the kinds of its types. [Definitions.Catalog] compiles them
// for the engine. The two OpenAPI converters differ in details because those of Kubernetes do. API servers use the converter
// for v3, also for custom resources. Some clients use the one for v2.
//
// The package reads only the topology of a schema. It checks no values, and ignores enum, pattern, required and every other
// validation.
//
// With the build tag openapi_crdonly, [V2] and [V3] only return an error, and the package imports no other modules.
// kube-openapi and gnostic make up half of a small program, such as a WebAssembly program that reads only definitions.
package openapi
