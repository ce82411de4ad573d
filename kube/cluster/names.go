package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/value"
)

// aggregated is the media type of a discovery document with all groups.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

// Named returns the resources that a name on a command line stands for, in the preferred version of their group. The name is the plural,
// the singular, a short name or the kind. It may have any case, and may end with a dot and the group. Named sends one request if the
// cluster serves aggregated discovery. Otherwise it also sends one request for each group.
func (c *Cluster) Named(ctx context.Context, name string) ([]Resource, error) {
	name, group, qualified := strings.Cut(strings.ToLower(name), ".")
	text, err := c.get(ctx, "/apis", aggregated)
	if err != nil {
		return nil, fmt.Errorf("discovery: %w", err)
	}
	groups, err := value.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("discovery: the answer is no JSON")
	}
	var out []Resource
	for g := range groups.Get("items").Items() {
		in := g.Get("metadata", "name").Str()
		for v := range g.Get("versions").Items() {
			gv := gvkschema.GroupVersion{Group: in, Version: v.Get("version").Str()}
			for r := range v.Get("resources").Items() {
				if qualified && in != group || !calls(name, r.Get("resource"), r.Get("singularResource"), r.Get("responseKind", "kind"), r.Get("shortNames")) {
					continue
				}
				found := Resource{gv.WithKind(r.Get("responseKind", "kind").Str()), r.Get("resource").Str(), r.Get("scope").Str() == "Namespaced"}
				out = addPreferred(out, found)
			}
		}
	}
	for g := range groups.Get("groups").Items() {
		if in := g.Get("name").Str(); !qualified || in == group {
			gv := gvkschema.GroupVersion{Group: in, Version: g.Get("preferredVersion", "version").Str()}
			if out, err = c.namedIn(ctx, out, gv, name); err != nil {
				return nil, err
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range out {
		c.found[r.GVK] = r
	}
	return out, nil
}

// addPreferred adds r, unless all already has the resource. Versions that the group prefers come first.
func addPreferred(all []Resource, r Resource) []Resource {
	if slices.ContainsFunc(all, func(other Resource) bool { return other.String() == r.String() }) {
		return all
	}
	return append(all, r)
}

// namedIn adds the resources of a group and version that have the given name.
func (c *Cluster) namedIn(ctx context.Context, out []Resource, gv gvkschema.GroupVersion, name string) ([]Resource, error) {
	text, err := c.get(ctx, pathOf(gv), "")
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) {
		return out, nil // a group whose server is down does not hide other groups
	}
	if err != nil {
		return nil, fmt.Errorf("discovery of %v: %w", gv, err)
	}
	list, err := value.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("discovery of %v: the answer is no JSON", gv)
	}
	for r := range list.Get("resources").Items() {
		plural := r.Get("name").Str()
		if !strings.Contains(plural, "/") && calls(name, r.Get("name"), r.Get("singularName"), r.Get("kind"), r.Get("shortNames")) {
			out = addPreferred(out, Resource{gv.WithKind(r.Get("kind").Str()), plural, r.Get("namespaced").Bool()})
		}
	}
	return out, nil
}

// calls reports whether name, in lower case, is one of the names of a resource.
func calls(name string, plural, singular, kind, short value.Value) bool {
	return slices.ContainsFunc([]value.Value{plural, singular, kind}, func(v value.Value) bool { return strings.ToLower(v.Str()) == name }) ||
		slices.ContainsFunc(slices.Collect(short.Items()), func(v value.Value) bool { return strings.ToLower(v.Str()) == name })
}
