// Package gitops compares kube/gitops, kube/csa and kube/fake with the libraries of Argo CD, Flux, client-go and controller-runtime.
package gitops
