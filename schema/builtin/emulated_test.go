package builtin

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// TestGatesOfReleases checks fields whose gate was off in some releases, at the first release that stores them and the one before.
func TestGatesOfReleases(t *testing.T) {
	for _, c := range []struct {
		apiVersion, kind, object, path string
		before, since                  string
	}{
		{"apps/v1", "StatefulSet", `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}}}}`,
			"spec.updateStrategy.rollingUpdate.maxUnavailable", "1.36", "1.37"},
		{"apps/v1", "StatefulSet", `{"spec":{}}`, "spec.updateStrategy.rollingUpdate.maxUnavailable", "1.36", "1.37"}, // a default
		{"storage.k8s.io/v1", "CSIDriver", `{"spec":{}}`, "spec.preventPodSchedulingIfMissing", "1.36", "1.37"},
		{"resource.k8s.io/v1", "DeviceClass", `{"spec":{"extendedResourceName":"example.org/r"}}`, "spec.extendedResourceName", "1.35", "1.36"},
		{"v1", "Pod", `{"spec":{"hostnameOverride":"h"}}`, "spec.hostnameOverride", "1.34", "1.35"},
		{"v1", "Pod", `{"spec":{"volumes":[{"name":"v","image":{"reference":"r"}}]}}`, "spec.volumes", "1.34", "1.35"},
	} {
		for _, emulated := range []bool{false, true} {
			for release, stored := range map[string]bool{c.before: false, c.since: true} {
				r, err := ReleaseOf(release)
				if emulated {
					r, err = Emulated(release)
				}
				if err != nil {
					t.Fatal(err)
				}
				k, _ := r.Lookup(schema.ParseGVK(c.apiVersion, c.kind))
				object, err := value.Parse([]byte(c.object))
				if err != nil {
					t.Fatal(err)
				}
				held, err := k.Held(object)
				if err != nil {
					t.Fatal(err)
				}
				out, err := k.Store("", value.Value{}, object, held)
				if err != nil {
					t.Fatal(err)
				}
				if at := out.Get(strings.Split(c.path, ".")...); at.IsAbsent() == stored {
					t.Errorf("v%s, emulated %v: %s of %s is %v", release, emulated, c.path, c.object, at)
				}
			}
		}
	}
}
