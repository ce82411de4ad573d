// Package catalog describes the resources that a server serves. A [Resource] has one or more [Version]s. A version has names, a scope,
// subresources, columns and field managers. Its [Form] converts between the objects that clients send and the stored objects.
//
// A [Catalog] is an immutable set of resources. A server replaces its catalog as a whole when a definition changes, and every request keeps
// the catalog that it began with. Discovery and OpenAPI documents are derived from a catalog: see discovery.go and package openapi.
//
// The package does not define resources. Package crd makes them from CustomResourceDefinitions, and package builtin makes the built-in
// ones.
package catalog
