package api

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Target is what the path of a request names: a collection, an object or a subresource.
type Target struct {
	Group, Version        string // Group is empty for the core group
	Resource, Subresource string
	Namespace, Name       string // empty if the path has none
	Watch, Proxy          bool   // the path has the deprecated form /watch/… or /proxy/…
	Incomplete            bool   // the path ends with one of these prefixes, where it should name a resource
	Rest                  string // the rest of the path after the subresource
}

// ParseTarget parses a path below /api or /apis. It returns false for other paths, and for paths without a resource, which are discovery
// documents. A trailing slash does not matter.
//
//	/api/v1/namespaces/shop/configmaps/web      core group, version v1, in namespace shop
//	/apis/apps/v1/deployments                   all namespaces
//	/api/v1/namespaces/shop/status              the subresource of the namespace itself
//	/apis/apps/v1/watch/deployments             deprecated for deployments?watch=1
//	/api/v1/proxy/nodes/n1/metrics              no longer served; what follows the name is no subresource
func ParseTarget(path string) (Target, bool) {
	var t Target
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return Target{}, false
	}
	if prefix := parts[0]; prefix == "watch" || prefix == "proxy" {
		if len(parts) == 1 {
			t.Incomplete = true
		} else {
			t.Watch, t.Proxy, parts = prefix == "watch", prefix == "proxy", parts[1:]
		}
	}
	if parts[0] == "namespaces" && len(parts) > 1 {
		t.Namespace = parts[1]
		if len(parts) > 2 && !ofNamespace(parts[2]) {
			parts = parts[2:]
		}
	}
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.Name = parts[1]
	}
	if len(parts) > 2 && !t.Proxy {
		t.Subresource = parts[2]
	}
	if len(parts) > 3 {
		t.Rest = strings.Join(parts[3:], "/")
	}
	return t, t.Resource != ""
}

// ofNamespace reports whether name, after the name of a namespace, is a subresource of the namespace and not a resource in it.
func ofNamespace(name string) bool { return name == "status" || name == "finalize" }

// GroupResource returns the resource in the form of texts, such as deployments.apps.
func (t Target) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: t.Group, Resource: t.Resource}
}
