package builtin

import (
	"fmt"
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
		{"batch/v1", "Job", `{"spec":{"managedBy":"example.org/c"}}`, "spec.managedBy", "1.31", "1.32"},
		{"v1", "Pod", `{"spec":{"hostUsers":false}}`, "spec.hostUsers", "1.32", "1.33"},
		{"v1", "PersistentVolumeClaim", `{"spec":{"volumeAttributesClassName":"c"}}`, "spec.volumeAttributesClassName", "1.33", "1.34"},
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

// podIn returns a pod, and its kind in a release; err is the error of finding the release.
func podIn(t *testing.T, r *Release, err error, text string) (*Kind, value.Value) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	k, _ := r.Lookup(schema.ParseGVK("v1", "Pod"))
	object, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k, object
}

// TestDefaultsOfGates checks the default value of a field that a release drops later, since admission sees the object before.
func TestDefaultsOfGates(t *testing.T) {
	for release, want := range map[string]string{
		"1.34": `[{"image":{"reference":"r"},"name":"v"}]`,
		"1.35": `[{"image":{"pullPolicy":"Always","reference":"r"},"name":"v"}]`,
	} {
		r, err := Emulated(release)
		k, object := podIn(t, r, err, `{"spec":{"volumes":[{"name":"v","image":{"reference":"r"}}]}}`)
		held, err := k.Held(object)
		if got := held.Get("spec", "volumes").String(); got != want || err != nil {
			t.Errorf("v%s: %s, %v, want %s", release, got, err, want)
		}
	}
}

// TestValuesOfGates checks a field that becomes its default value, and is not dropped, before the release that brought its gate.
func TestValuesOfGates(t *testing.T) {
	for release, want := range map[string]string{"1.32": "Default", "1.33": "Unmasked"} {
		r, err := ReleaseOf(release)
		k, object := podIn(t, r, err, `{"spec":{"containers":[{"name":"c","securityContext":{"procMount":"Unmasked"}}]}}`)
		out, err := k.Store("", value.Value{}, object, object)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Get("spec", "containers").Item(0).Get("securityContext", "procMount").Str(); got != want {
			t.Errorf("v%s: got %q, want %q", release, got, want)
		}
	}
}

// TestPodResourcesOfReleases checks when the resources of a pod as a whole get what follows from its containers: once it is read, or when it
// is created.
func TestPodResourcesOfReleases(t *testing.T) {
	const containers = `"containers":[{"name":"c","resources":{"limits":{"cpu":"1","memory":"2Gi"},"requests":{"cpu":"500m","memory":"1Gi"}}}]`
	const limited, requested = `{"limits":{"cpu":"2"}}`, `{"requests":{"cpu":"2"}}`
	const follows = `{"limits":{"cpu":"2"},"requests":{"cpu":"500m","memory":"1Gi"}}`
	for _, c := range []struct{ release, resources, held, created string }{
		{"1.33", limited, limited, "absent"},
		{"1.34", limited, follows, follows},
		{"1.36", limited, follows, follows},
		{"1.36", requested, requested, requested},
		{"1.37", limited, limited, `{"limits":{"cpu":"2","memory":"2Gi"},"requests":{"cpu":"500m","memory":"1Gi"}}`},
		{"1.37", requested, requested, `{"requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"2","memory":"2Gi"}}`},
	} {
		r, err := ReleaseOf(c.release)
		if err != nil {
			t.Fatal(err)
		}
		k, _ := r.Lookup(schema.ParseGVK("v1", "Pod"))
		object, err := value.Parse([]byte(`{"spec":{"resources":` + c.resources + "," + containers + "}}"))
		if err != nil {
			t.Fatal(err)
		}
		held, err := k.Held(object)
		if err != nil {
			t.Fatal(err)
		}
		created, err := k.Store("", value.Value{}, object, held)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			name, want string
			got        value.Value
		}{{"held", c.held, held}, {"created", c.created, created}} {
			got := step.got.Get("spec", "resources")
			if want, err := value.Parse([]byte(step.want)); err != nil && !got.IsAbsent() || err == nil && !got.Equal(want) {
				t.Errorf("v%s %s: %s: got %v, want %s", c.release, c.resources, step.name, got, step.want)
			}
		}
	}
}

// TestEndpointsOfReleases checks what managers at an endpoint do not own, in the release that changed it and the one before.
func TestEndpointsOfReleases(t *testing.T) {
	for _, c := range []struct{ apiVersion, kind, subresource, release, before, since, emulated string }{
		{"networking.k8s.io/v1", "ServiceCIDR", "", "1.36", "", ".status", ""},
		{"networking.k8s.io/v1", "ServiceCIDR", "status", "1.36", "", ".metadata .spec", ".metadata .spec"},
		{"resource.k8s.io/v1", "ResourceClaim", "status", "1.35", ".spec", ".metadata .spec", ".metadata .spec"},
		{"certificates.k8s.io/v1beta1", "PodCertificateRequest", "status", "1.37", ".spec", ".metadata .spec", ".metadata .spec"},
	} {
		earlier := fmt.Sprint("1.", minorOf("v"+c.release)-1)
		for _, of := range []struct {
			lookup  func(string) (*Release, error)
			release string
			want    string
		}{{ReleaseOf, c.release, c.since}, {ReleaseOf, earlier, c.before}, {Emulated, earlier, c.emulated}} {
			r, err := of.lookup(of.release)
			if err != nil {
				t.Fatal(err)
			}
			k, _ := r.Lookup(schema.ParseGVK(c.apiVersion, c.kind))
			config, err := k.Config(c.subresource)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(config.ResetFields[c.apiVersion].Exclude.String()), " "); got != of.want {
				t.Errorf("%s of %s in v%s: got %s, want %s", c.subresource, c.kind, of.release, got, of.want)
			}
		}
	}
}

// TestNullsOfReleases checks fields that are null in a release if they are not set, and left out since the next one. A newer server that
// emulates the release leaves them out.
func TestNullsOfReleases(t *testing.T) {
	const template = `{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}`
	const allocated = `{"spec":{},"status":{"allocation":{"devices":{"results":[{"request":"r"}]}}}}`
	for _, c := range []struct{ apiVersion, kind, object, path, last, next string }{
		{"apps/v1", "Deployment", template, "spec.template.metadata.creationTimestamp", "1.33", "1.34"},
		{"resource.k8s.io/v1beta1", "ResourceClaim", `{"spec":{},"status":{"devices":[{"driver":"d"}]}}`, "status.devices.0.data", "1.32", "1.33"},
		{"resource.k8s.io/v1beta1", "ResourceClaim", allocated, "status.allocation.devices.results.0.adminAccess", "1.33", "1.34"},
		{"resource.k8s.io/v1beta2", "ResourceClaim", allocated, "status.allocation.devices.results.0.adminAccess", "1.33", "1.34"},
		{"resource.k8s.io/v1", "ResourceSlice", `{"spec":{}}`, "spec.devices", "1.34", "1.35"},
		{"resource.k8s.io/v1beta1", "ResourceSlice", `{"spec":{}}`, "spec.devices", "1.32", "1.35"},
		{"resource.k8s.io/v1beta2", "ResourceSlice", `{"spec":{}}`, "spec.devices", "1.33", "1.35"},
	} {
		for _, of := range []struct {
			release func(string) (*Release, error)
			name    string
			null    bool
		}{{ReleaseOf, c.last, true}, {ReleaseOf, c.next, false}, {Emulated, c.last, false}} {
			r, err := of.release(of.name)
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
			if got := shownAt(held, c.path); (got == "null") != of.null {
				t.Errorf("v%s %s %s: %s is %v", of.name, c.apiVersion, c.kind, c.path, got)
			}
		}
	}
}

// TestServiceClassOfReleases checks the class of a new pod, which up to a release is the one that the pod is sent with, and that of empty
// resources of the pod.
func TestServiceClassOfReleases(t *testing.T) {
	const sent = `{"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running","qosClass":"Burstable","message":"m"}}`
	const empty = `{"spec":{"resources":{},"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`
	for _, c := range []struct {
		of                 func(string) (*Release, error)
		release, pod, want string
	}{
		{ReleaseOf, "1.31", sent, "Burstable"}, {ReleaseOf, "1.36", sent, "Burstable"}, {ReleaseOf, "1.37", sent, "BestEffort"},
		{ReleaseOf, "1.33", empty, "Burstable"}, {ReleaseOf, "1.34", empty, "BestEffort"}, {ReleaseOf, "1.36", empty, "BestEffort"},
		{ReleaseOf, "1.37", empty, "Burstable"},
		{Emulated, "1.36", sent, "BestEffort"}, {Emulated, "1.36", empty, "BestEffort"},
	} {
		r, err := c.of(c.release)
		if err != nil {
			t.Fatal(err)
		}
		k, _ := r.Lookup(schema.ParseGVK("v1", "Pod"))
		pod, err := value.Parse([]byte(c.pod))
		if err != nil {
			t.Fatal(err)
		}
		out, err := k.Store("", value.Value{}, pod, pod)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := out.Get("status").String(), `{"phase":"Pending","qosClass":"`+c.want+`"}`; got != want {
			t.Errorf("v%s: the status of %s is %s, want %s", c.release, c.pod, got, want)
		}
	}
}
