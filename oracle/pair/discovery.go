package pair

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Discovery knows what a server serves.
type Discovery struct {
	server *Server
	groups map[string]*Group
}

// NewDiscovery returns the discovery of a server, which asks when it is asked.
func NewDiscovery(s *Server) *Discovery { return &Discovery{s, map[string]*Group{}} }

// Group is a group and version, with the resources that are stored.
type Group struct {
	Version      string
	Resources    map[string]string   // plural names, by kind
	Namespaced   map[string]bool     // by kind
	Subresources map[string][]string // that are updated, by kind
	Schemas      Schemas

	path string
}

// Group returns a group and version, such as apps/v1. One that is not served has no resources.
func (d *Discovery) Group(version string) (*Group, error) {
	if g := d.groups[version]; g != nil {
		return g, nil
	}
	g := &Group{Version: version, path: "/apis/" + version, Resources: map[string]string{}, Namespaced: map[string]bool{}, Subresources: map[string][]string{}}
	if !strings.Contains(version, "/") {
		g.path = "/api/" + version
	}
	var list struct {
		Resources []struct {
			Name       string
			Kind       string
			Namespaced bool
			Verbs      []string
		}
	}
	if a, err := d.server.Send(Request{Method: http.MethodGet, Path: g.path}); err == nil && a.Code == http.StatusNotFound {
		return g, nil
	}
	if err := d.server.Read(g.path, &list); err != nil {
		return nil, err
	}
	for _, r := range list.Resources {
		name, subresource, below := strings.Cut(r.Name, "/")
		switch {
		case !below:
			g.Resources[r.Kind], g.Namespaced[r.Kind] = name, r.Namespaced
		case slices.Contains(r.Verbs, "update") && g.Resources[r.Kind] == name:
			g.Subresources[r.Kind] = append(g.Subresources[r.Kind], subresource)
		}
	}
	var document struct {
		Components struct{ Schemas Schemas }
	}
	err := d.server.Read("/openapi/v3"+g.path, &document)
	g.Schemas = document.Components.Schemas
	d.groups[version] = g
	return g, err
}

// Versions returns the versions of a group that are served, such as apps/v1, the preferred one first. A group that is not served has none.
func (d *Discovery) Versions(group string) ([]string, error) {
	if group == "" {
		return []string{"v1"}, nil
	}
	var served struct {
		Versions []struct{ GroupVersion string }
	}
	if a, err := d.server.Send(Request{Method: http.MethodGet, Path: "/apis/" + group}); err == nil && a.Code == http.StatusNotFound {
		return nil, nil
	}
	if err := d.server.Read("/apis/"+group, &served); err != nil {
		return nil, err
	}
	var out []string
	for _, v := range served.Versions {
		out = append(out, v.GroupVersion)
	}
	return out, nil
}

// Collection returns the path of the objects of a kind, in a namespace if they are in one.
func (g *Group) Collection(kind, namespace string) string {
	if g.Namespaced[kind] {
		return g.path + "/namespaces/" + namespace + "/" + g.Resources[kind]
	}
	return g.path + "/" + g.Resources[kind]
}

// Locate sets the path of a base object.
func (g *Group) Locate(b *Base) error {
	if g.Schemas.Of(b.Kind) == nil {
		return fmt.Errorf("%s has no schema", b.ID)
	}
	namespace, _ := Get(b.Object, "metadata", "namespace").(string)
	b.Path = g.Collection(b.Kind, cmp.Or(namespace, "default"))
	return nil
}
