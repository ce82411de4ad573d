package kube_test

import (
	"testing"

	"github.com/deed-project/deed/internal/testing/layers"
)

// table is the dependency policy of this module.
var table = []layers.Layer{
	{".", "", "fieldpath internal/custom managedfields merge schema schema/builtin schema/openapi schema/structural value value/structs",
		"k8s.io/apimachinery k8s.io/kube-openapi sigs.k8s.io/structured-merge-diff/v6"},
	{"cluster", "", "schema schema/builtin value", "k8s.io/apimachinery"},
	{"gitops", ". cluster", "fieldpath internal/door managedfields merge schema schema/builtin typed value", "k8s.io/apimachinery"},
	{"inventory", "", "internal/yaml managedfields schema schema/builtin value", "k8s.io/apimachinery"},
	{"csa", ". inventory", "managedfields ownership", "k8s.io/apimachinery sigs.k8s.io/structured-merge-diff/v6"},
	{"fake", ".", "managedfields schema schema/builtin", "k8s.io/apimachinery"},
}

func TestImports(t *testing.T) { layers.Check(t, layers.Root+"/kube", table) }
