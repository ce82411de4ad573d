// Package builtin holds the schemas of the Kubernetes built-in types, so that deed can type their objects without a
// cluster: every kind of the built-in API groups that can be applied, CustomResourceDefinition, and APIService.
//
// They are those of Kubernetes v1.37, generated from the field lists that Kubernetes publishes for its own clients. The
// types of custom resources are not here: read those from a CustomResourceDefinition.
package builtin

//go:generate go run ../../oracle/genschema
//go:generate env GOWORK=off go -C ../../oracle/kube run ./generate ../../schema/builtin
