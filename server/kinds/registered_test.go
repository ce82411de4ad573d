package kinds

import (
	"slices"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// TestRegistered finds every built-in kind among those that kube-apiserver's scheme registers: two tables of one truth.
func TestRegistered(t *testing.T) {
	n := 0
	for k := range builtin.Kinds() {
		n++
		if !slices.Contains(registered()[k.GVK.APIVersion()], k.GVK.Kind) {
			t.Errorf("%v is not registered", k.GVK)
		}
	}
	if n == 0 {
		t.Error("there are no built-in kinds")
	}
}

// TestWrongKind refuses kinds that a path does not take, by the scheme of the kind that it takes.
func TestWrongKind(t *testing.T) {
	deployment, definition := schema.ParseGVK("apps/v1", "Deployment"), schema.ParseGVK("apiextensions.k8s.io/v1", "CustomResourceDefinition")
	const unregistered = ` in scheme "pkg/runtime/scheme.go:111"`
	for _, c := range []struct {
		apiVersion, kind string
		wanted           schema.GVK
		want             string
	}{
		{"v1", "PodList", deployment, "converting (v1.PodList) to (apps.Deployment): unknown conversion"},
		{"apps/v1beta1", "Scale", deployment, "converting (v1beta1.Scale) to (apps.Deployment): unknown conversion"},
		{"nope/v1", "Status", deployment, "converting (v1.Status) to (apps.Deployment): unknown conversion"},
		{"apps/v1beta1", "WatchEvent", deployment, "converting (v1.WatchEvent) to (apps.Deployment): unknown conversion"},
		{"nope/v1", "WatchEvent", deployment, `no kind "WatchEvent" is registered for version "nope/v1"` + unregistered},
		{"v1", "Pod", definition, `no kind "Pod" is registered for version "v1"` + unregistered},
		{"v1", "WatchEvent", definition, "converting (v1.WatchEvent) to (apiextensions.CustomResourceDefinition): unknown conversion"},
		{definition.APIVersion(), definition.Kind, deployment, `no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1"` + unregistered},
	} {
		if got := WrongKind(c.kind, c.apiVersion, c.wanted).Error(); got != c.want {
			t.Errorf("%s %s for %s: %s, want %s", c.apiVersion, c.kind, c.wanted.Kind, got, c.want)
		}
	}
}
