package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// lifecycle says since which minor release a version of kinds is deprecated, in which one it is gone, and what replaces it.
type lifecycle struct {
	version, kinds       string
	deprecated, gone     int    // minor releases; gone is 0 for a version that stays
	replacement, another string // the apiVersion that replaces it, and the kind there if it is another one
}

// lifecycles has the deprecated versions of built-in kinds whose objects can be written. Servers serve all but the first on request only.
var lifecycles = []lifecycle{
	{"v1", "Endpoints", 33, 0, "discovery.k8s.io/v1", "EndpointSlice"},
	{"admissionregistration.k8s.io/v1alpha1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding", 35, 38, "", ""},
	{"admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding", 37, 40, "admissionregistration.k8s.io/v1", ""},
	{"certificates.k8s.io/v1beta1", "ClusterTrustBundle PodCertificateRequest", 37, 40, "certificates.k8s.io/v1", ""},
	{"coordination.k8s.io/v1alpha2", "LeaseCandidate", 35, 38, "", ""},
	{"coordination.k8s.io/v1beta1", "LeaseCandidate", 36, 39, "", ""},
	{"resource.k8s.io/v1alpha3", "DeviceTaintRule", 36, 39, "", ""},
	{"resource.k8s.io/v1beta1", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", 35, 38, "", ""},
	{"resource.k8s.io/v1beta2", "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice", 36, 39, "", ""},
	{"storagemigration.k8s.io/v1beta1", "StorageVersionMigration", 37, 40, "storagemigration.k8s.io/v1", ""},
}

// deprecationOf returns the warning of servers of a minor release about a built-in kind, or "".
func deprecationOf(gvk schema.GVK, minor int) string {
	for _, l := range lifecycles {
		if l.version != gvk.APIVersion() || minor < l.deprecated || !slices.Contains(strings.Fields(l.kinds), gvk.Kind) {
			continue
		}
		text := fmt.Sprintf("%s %s is deprecated in v1.%d+", l.version, gvk.Kind, l.deprecated)
		if l.gone > 0 {
			text += fmt.Sprintf(", unavailable in v1.%d+", l.gone)
		}
		if l.replacement != "" {
			text += "; use " + l.replacement + " " + cmp.Or(l.another, gvk.Kind)
		}
		return text
	}
	return ""
}

// Warnings implements [types.Validation].
func (s Server) Warnings(gvk schema.GVK, release *builtin.Release, definition value.Value) []string {
	var out []string
	if text := s.Deprecation(gvk, release.Minor(), definition); text != "" {
		out = append(out, text)
	}
	k, ok := release.Lookup(gvk)
	if !ok || k.Served != builtin.ServedOnRequest || !definition.IsAbsent() {
		return out
	}
	text := fmt.Sprintf("servers serve %s only if started with --runtime-config=%s=true", gvk.APIVersion(), gvk.APIVersion())
	for _, other := range builtin.Siblings(gvk) {
		if of, ok := release.Lookup(other.GVK); ok && of.Served == builtin.ServedByDefault {
			text += "; all serve " + other.GVK.APIVersion()
			break
		}
	}
	return append(out, text)
}

// Deprecation returns the warning about a version that is deprecated in a minor release, or "".
func (Server) Deprecation(gvk schema.GVK, minor int, definition value.Value) string {
	if definition.IsAbsent() {
		return deprecationOf(gvk, minor)
	}
	newest, deprecated := "", value.Value{}
	for v := range definition.Get("spec", "versions").Items() {
		name := v.Get("name").Str()
		switch {
		case v.Get("deprecated").Bool():
			if name == gvk.Version {
				deprecated = v
			}
		case v.Get("served").Bool() && (newest == "" || version.CompareKubeAwareVersionStrings(name, newest) > 0):
			newest = name
		}
	}
	own := deprecated.Get("deprecationWarning")
	switch {
	case deprecated.IsAbsent():
		return ""
	case own.Kind() == value.KindString:
		return own.Str()
	}
	text := gvk.APIVersion() + " " + gvk.Kind + " is deprecated"
	if newest != "" && version.CompareKubeAwareVersionStrings(newest, gvk.Version) > 0 {
		text += "; use " + schema.GVK{Group: gvk.Group, Version: newest}.APIVersion() + " " + gvk.Kind
	}
	return text
}
