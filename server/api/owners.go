package api

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// FinalizerWarnings returns warnings about the finalizers that object has and old does not have: names that may collide. old is absent for
// a new object.
func FinalizerWarnings(object, old value.Value) []string {
	finalizers := object.Get("metadata", "finalizers")
	if finalizers.Len() == 0 {
		return nil
	}
	before, added := map[string]bool{}, []string(nil)
	for name := range old.Get("metadata", "finalizers").Items() {
		before[name.Str()] = true
	}
	for name := range finalizers.Items() {
		if !before[name.Str()] {
			added = append(added, name.Str())
		}
	}
	slices.Sort(added)
	var out []string
	for _, name := range slices.Compact(added) {
		out = append(out, finalizerWarnings(name)...)
	}
	return out
}

func finalizerWarnings(name string) []string {
	var out []string
	for _, text := range validation.IsQualifiedName(name) {
		out = append(out, fmt.Sprintf("metadata.finalizers: %q: %s", name, text))
	}
	standard := name == "orphan" || name == "foregroundDeletion" || name == "kubernetes"
	if strings.Contains(name, "/") || standard {
		return out
	}
	advice := "prefer a domain-qualified finalizer name"
	if strings.Contains(name, ".") {
		advice += " including a path (/)"
	}
	advice += " to avoid accidental conflicts with other finalizer writers"
	return append(out, fmt.Sprintf("metadata.finalizers: %q: %s", name, advice))
}
