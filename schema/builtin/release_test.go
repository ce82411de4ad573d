package builtin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// releaseOf returns a release.
func releaseOf(t *testing.T, name string) *builtin.Release {
	t.Helper()
	r, err := builtin.ReleaseOf(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// minorReleases are the releases that are known, as names.
func minorReleases() (names []string) {
	for minor := 31; minor <= 37; minor++ {
		names = append(names, fmt.Sprint("1.", minor))
	}
	return names
}

// Each version of a kind that a release serves has a resource, and an endpoint whose types compile.
func TestReleasesHaveEndpoints(t *testing.T) {
	for _, name := range minorReleases() {
		served := 0
		for k := range releaseOf(t, name).Kinds() {
			if k.Served == builtin.NotServed {
				continue
			}
			served++
			if k.Resource == "" {
				t.Errorf("%s: %v has no resource", name, k.GVK)
			}
			config, err := k.Config("")
			if err != nil {
				t.Errorf("%s: %v: %v", name, k.GVK, err)
			} else if len(config.Types) > 0 {
				if _, err := managedfields.New(config); err != nil {
					t.Errorf("%s: %v: %v", name, k.GVK, err)
				}
			}
		}
		if served < 70 {
			t.Errorf("%s serves %d versions of kinds", name, served)
		}
	}
}

func TestReleasesServe(t *testing.T) {
	for _, c := range []struct {
		apiVersion, kind string
		want             string // by release, from 1.31 on: - not served, o on request, d by default
	}{
		{"apps/v1", "Deployment", "ddddddd"},
		{"resource.k8s.io/v1", "DeviceClass", "---dddd"},
		{"resource.k8s.io/v1beta1", "DeviceClass", "-oooooo"},
		{"networking.k8s.io/v1", "ServiceCIDR", "--ddddd"},
		{"networking.k8s.io/v1beta1", "ServiceCIDR", "oooooo-"},
		{"flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", "d------"},
		{"admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "-----dd"},
		{"batch/v1beta1", "CronJob", "-------"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition", "ddddddd"},
		{"authorization.k8s.io/v1", "SubjectAccessReview", "ddddddd"},
	} {
		got := ""
		for _, name := range minorReleases() {
			k, ok := releaseOf(t, name).Lookup(schema.ParseGVK(c.apiVersion, c.kind))
			if !ok {
				t.Fatalf("%s %s is no built-in kind", c.apiVersion, c.kind)
			}
			got += map[builtin.Serving]string{builtin.NotServed: "-", builtin.ServedOnRequest: "o", builtin.ServedByDefault: "d"}[k.Served]
		}
		if got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.apiVersion, c.kind, got, c.want)
		}
	}
}

// A release refuses fields that came later, and sets no defaults in them.
func TestReleasesHaveTheirFields(t *testing.T) {
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{%s"containers":[{"name":"c","image":"i:1"}]}}`
	for name, want := range map[string]string{
		"1.31": ".spec.resources: field not declared in schema", "1.32": "", "1.37": "",
	} {
		k, _ := releaseOf(t, name).Lookup(schema.ParseGVK("v1", "Pod"))
		config, err := k.Config("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := managedfields.New(config)
		if err != nil {
			t.Fatal(err)
		}
		apply := func(more string) (managedfields.Object, error) {
			object, err := managedfields.ParseObject(fmt.Appendf(nil, pod, more))
			if err != nil {
				t.Fatal(err)
			}
			return m.Apply(managedfields.Object{}, object, "alpha", false)
		}
		_, err = apply(`"resources":{"limits":{"cpu":"1"}},`)
		if (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
		out, err := apply("")
		if err != nil || out.Content.Get("spec", "restartPolicy").Str() != "Always" {
			t.Errorf("%s: got %v, %v", name, out.Content, err)
		}
	}
}

func TestReleasesNameThemselves(t *testing.T) {
	for _, c := range []struct{ release, apiVersion, kind, want string }{
		{"1.33", "resource.k8s.io/v1", "DeviceClass", "resource.k8s.io/v1 DeviceClass is not served by Kubernetes v1.33"},
		{"1.33", "batch/v1beta1", "CronJob", "batch/v1beta1 CronJob is not served since Kubernetes v1.25: use batch/v1 CronJob"},
		{"1.37", "networking.k8s.io/v1beta1", "ServiceCIDR", "networking.k8s.io/v1beta1 ServiceCIDR is not served since Kubernetes v1.37: use networking.k8s.io/v1 ServiceCIDR"},
	} {
		k, _ := releaseOf(t, c.release).Lookup(schema.ParseGVK(c.apiVersion, c.kind))
		_, err := k.Config("")
		var unserved *builtin.UnservedError
		if !errors.As(err, &unserved) || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.release, err, c.want)
		}
	}
	if _, err := builtin.ReleaseOf("1.20"); err == nil {
		t.Error("1.20 is known")
	}
	var none *builtin.Release
	if _, ok := none.Lookup(schema.ParseGVK("v1", "Pod")); ok {
		t.Error("no release has a kind")
	}
}
