// Package compat runs the tests of other projects with deed in the place of structured-merge-diff: those of structured-merge-diff
// itself, copied out of the module cache and put beside the packages of compat/structured-merge-diff, and those of apimachinery,
// client-go, controller-runtime, kube-openapi, apiserver and, with an etcd, apiextensions-apiserver, by a replace directive in copies of
// these modules.
// None of their code is in this repository. Command compare measures apimachinery's field manager with both.
//
// It is not part of the workspace:
//
//	cd oracle/compat && GOWORK=off go test -v -timeout 1h .
package compat
