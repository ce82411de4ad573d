// Package catalog says what a server serves: resources ([Resource]) in versions ([Version]), each with its names, scope,
// subresources, columns, field managers, and its [Form], which makes stored objects of what clients send and back.
//
// A [Catalog] is an immutable set of resources; a server replaces it as a whole when a definition changes, and every request is
// answered by the catalog that it met. Documents of discovery and OpenAPI are made from a catalog: see the functions of
// discovery.go and openapi.go.
//
// The package does not know where resources come from: package crd makes those that CustomResourceDefinitions define, package
// builtin those that are part of Kubernetes.
package catalog
