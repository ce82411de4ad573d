// Package extras compares package managedfields, apart from apply and update, with the code that Kubernetes publishes. Scale and extraction
// are compared with k8s.io/apimachinery, and migration with k8s.io/client-go/util/csaupgrade. It also compares the text of numbers in
// objects. It contains only tests.
package extras
