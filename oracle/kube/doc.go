// Package kube is the module with kube-apiserver's own scheme: the Go types, defaults and conversions of all built-in kinds.
//
// Its command generate writes the files that package schema/builtin embeds. Its package peer compares the outcomes of schema/builtin with
// those of the scheme. It is a separate module because it needs k8s.io/kubernetes, whose staging modules go.mod replaces. It is not part of
// the workspace:
//
//	cd oracle/kube && GOWORK=off go test ./... -objects 100000
package kube
