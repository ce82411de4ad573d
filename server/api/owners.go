package api

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/deed-project/deed/value"
)

// UniqueOwners returns object with each of its owner references once, and the uids of those that it takes out.
func UniqueOwners(object value.Value) (value.Value, []string) {
	references := object.Get("metadata", "ownerReferences")
	var kept []value.Value
	var uids []string
	for reference := range references.Items() {
		if slices.ContainsFunc(kept, reference.Equal) {
			uids = append(uids, reference.Get("uid").Str())
			continue
		}
		kept = append(kept, reference)
	}
	if uids == nil {
		return object, nil
	}
	return WithMetadata(object, "ownerReferences", value.List(kept...)), uids
}

// FinalizerWarnings returns what to warn of in the finalizers that object has and old, absent for a new object, has not: names
// that may collide with those of others.
func FinalizerWarnings(object, old value.Value) []string {
	var before, added []string
	for name := range old.Get("metadata", "finalizers").Items() {
		before = append(before, name.Str())
	}
	for name := range object.Get("metadata", "finalizers").Items() {
		if !slices.Contains(before, name.Str()) {
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
