package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// deprecatedEndpoints is the warning about the only deprecated kind that servers serve by default, and whose objects can be written. Servers
// send it from the release v1.33 on.
const (
	deprecatedEndpoints      = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
	deprecatedEndpointsSince = 33
)

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
		if gvk == (schema.GVK{Version: "v1", Kind: "Endpoints"}) && minor >= deprecatedEndpointsSince {
			return deprecatedEndpoints
		}
		return ""
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
