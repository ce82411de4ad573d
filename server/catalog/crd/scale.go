package crd

import (
	"sync"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/structural/scale"
	"github.com/deed-project/deed/value"
)

// scaleDefinition describes Scale as a custom resource, which has the same type.
const scaleDefinition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"spec": {"group": "autoscaling", "names": {"kind": "Scale"}, "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
		"type": "object",
		"properties": {
			"spec": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
			"status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}}
		}
	}}}]}
}`

// scaleTypes has the type of Scale by apiVersion. It is compiled once, when a definition has the subresource.
var scaleTypes = sync.OnceValues(func() (map[string]*schema.Type, error) {
	definition, err := value.Parse([]byte(scaleDefinition))
	if err != nil {
		return nil, err
	}
	return typesOf(definition)
})

// scale makes the subresource scale from its description s in the definition.
//
// Its field manager works on Scales alone. Replicas tells where the replicas are in the objects of each version, to carry their owners
// over.
func (c *compiler) scale(s value.Value) (*catalog.Scale, error) {
	types, err := scaleTypes()
	if err != nil {
		return nil, err
	}
	manager, err := managedfields.New(managedfields.Config{
		GVK: catalog.ScaleKind, Types: types, Subresource: "scale", Empty: catalog.NewScale(value.Object(), 0, 0, ""), Now: c.now,
	})
	if err != nil {
		return nil, err
	}
	return &catalog.Scale{Paths: scale.PathsIn(s), Manager: manager, Replicas: c.replicas, Requests: builtin.RequestScale}, nil
}
