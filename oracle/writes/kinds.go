package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// kind is a kind with what its objects are made of.
type kind struct {
	name         string
	namespace    string // empty if the objects are in none
	versions     []*pair.Group
	subresources []string
	bases        []*pair.Base
	values       map[string][]any // of the bases, by field
	definition   *definition      // that may change; nil for others
	defined      map[string]any   // the CustomResourceDefinition; nil for a built-in kind
	cbor         bool             // some bodies and answers are CBOR, and none protocol buffers
	kubectl      *kubectl         // that makes half of the writes, or nil
}

// apart has the kinds that no history is about, with the reason.
var apart = map[string]string{
	"Namespace":                  "a controller finishes its deletion",
	"CustomResourceDefinition":   "a controller writes its status",
	"FlowSchema":                 "a controller writes its status",
	"PriorityLevelConfiguration": "it changes how requests are served",
	"ServiceCIDR":                "it changes the addresses of Services",
	"IPAddress":                  "a controller deletes one without a Service",
}

// prepare finds the kinds, and creates a namespace for each.
func (c *campaign) prepare() ([]*kind, error) {
	bases, err := pair.Bases()
	if err != nil {
		return nil, err
	}
	served := pair.NewDiscovery(c.real)
	var out []*kind
	for _, b := range bases {
		if apart[b.Kind] != "" || c.kinds != "" && !slices.Contains(strings.Split(c.kinds, ","), b.Kind) {
			continue
		}
		version := b.Object["apiVersion"].(string)
		i := slices.IndexFunc(out, func(k *kind) bool { return k.name == b.Kind }) // an Event is in two groups
		if i < 0 {
			i, out = len(out), append(out, &kind{name: b.Kind, values: map[string][]any{}})
		}
		if err := out[i].serve(served, version); err != nil {
			return nil, err
		}
		out[i].add(b)
	}
	out = slices.DeleteFunc(out, func(k *kind) bool { return len(k.versions) == 0 })
	if len(out) == 0 {
		return nil, fmt.Errorf("no base object is of the kinds %q", c.kinds)
	}
	for _, k := range out {
		if k.namespace == "" {
			continue
		}
		namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": k.namespace}}
		for _, s := range [...]*pair.Server{c.real, c.deed} {
			a, err := s.Send(pair.Request{Method: http.MethodPost, Path: "/api/v1/namespaces", Body: namespace})
			if err == nil && a.Code != http.StatusCreated && a.Code != http.StatusConflict {
				err = fmt.Errorf("namespace %s: %s", k.namespace, a)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func groupOf(version string) string {
	if group, _, ok := strings.Cut(version, "/"); ok {
		return group
	}
	return ""
}

// serve adds the versions of a group that have the kind, after the one that is given.
func (k *kind) serve(served *pair.Discovery, first string) error {
	versions, err := served.Versions(groupOf(first))
	if err != nil {
		return err
	}
	for _, version := range append([]string{first}, versions...) {
		g, err := served.Group(version)
		if err != nil {
			return err
		}
		if g.Resources[k.name] == "" || slices.Contains(k.versions, g) {
			continue
		}
		if k.versions = append(k.versions, g); g.Namespaced[k.name] {
			k.namespace = "writes-" + strings.ToLower(k.name)
		}
		k.subresources = g.Subresources[k.name]
	}
	return nil
}

// add adds a base object.
func (k *kind) add(b *pair.Base) {
	k.bases = append(k.bases, b)
	i := slices.IndexFunc(k.versions, func(g *pair.Group) bool { return g.Version == b.Object["apiVersion"] })
	if i < 0 {
		return
	}
	schemas := k.versions[i].Schemas
	for _, l := range schemas.Locations(schemas.Of(k.name), b.Object, 0) {
		if l.Exists {
			k.values[l.Field] = append(k.values[l.Field], l.Value)
		}
	}
}
