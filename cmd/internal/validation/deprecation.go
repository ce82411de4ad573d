package validation

import (
	"k8s.io/apimachinery/pkg/version"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// deprecatedEndpoints is the warning about the only deprecated kind that servers serve by default, and whose objects can be written. Servers
// send it from the release v1.33 on.
const (
	deprecatedEndpoints      = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
	deprecatedEndpointsSince = 33
)

// Deprecation implements [types.Validation].
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
