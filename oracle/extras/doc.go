// Package extras compares what package managedfields offers beside apply and update with the code that Kubernetes publishes
// for it: scale and extraction with k8s.io/apimachinery, migration with k8s.io/client-go/util/csaupgrade; and how numbers in objects
// are written. It has tests only.
package extras
