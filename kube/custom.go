package kube

import (
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// customKind is a kind that a definition defines.
type customKind struct {
	*custom.Kind
	schemas map[string]*structural.Schema // by the name of the version
	types   map[string]*schema.Type       // by apiVersion
	status  map[string]bool               // the apiVersions with the subresource status
}

// config returns the configuration of an endpoint of the kind.
func (k customKind) config(gvk gvkschema.GroupVersionKind, subresource string) managedfields.Config {
	s := k.schemas[gvk.Version]
	c := k.Config(schema.GVK(gvk), subresource, s)
	hasStatus := k.status[gvk.GroupVersion().String()]
	c.Store = func(change managedfields.Change) (value.Value, error) {
		return storedCustom(change, s, subresource, hasStatus), nil
	}
	return c
}

// storedCustom returns the custom resource that a server stores, if its version has the schema s:
//
//  1. Fields that the schema does not know are pruned.
//  2. With the subresource status, the main endpoint does not write the status, and the status endpoint writes nothing else.
//  3. Metadata that only the server writes is that of [custom.Identified].
func storedCustom(c managedfields.Change, s *structural.Schema, subresource string, hasStatus bool) value.Value {
	live, object := c.Live, c.Object
	if object.Same(live) {
		return object
	}
	if s != nil {
		object, _ = s.Prune(object)
	}
	switch {
	case hasStatus && subresource == custom.StatusName && !live.IsAbsent():
		return live.With(custom.StatusName, object.Get(custom.StatusName))
	case hasStatus && subresource == "":
		object = object.With(custom.StatusName, live.Get(custom.StatusName))
	}
	return custom.Identified(live, object, !hasStatus)
}
