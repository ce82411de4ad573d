// Package kube is the module that knows kube-apiserver's own scheme: the Go types, defaults and conversions of all
// built-in kinds.
//
// Its command generate writes what package schema/builtin embeds, and its package peer compares what that package
// makes of objects with what the scheme makes of them. It is a module of its own because it needs
// k8s.io/kubernetes, whose staging modules go.mod replaces; it is no part of the workspace:
//
//	cd oracle/kube && GOWORK=off go test ./... -objects 100000
package kube
