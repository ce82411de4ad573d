package types

import (
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// ScaleName is the subresource that reads and writes the number of replicas.
const ScaleName = "scale"

// IsScale reports whether gvk is the kind of the objects of the subresource scale.
func IsScale(gvk schema.GVK) bool { return gvk.Group == "autoscaling" && gvk.Kind == "Scale" }

// Scale returns the endpoint of Scale objects. config is the part that all kinds share.
func (t *Types) Scale(config managedfields.Config) (*Endpoint, error) {
	served := builtin.ScaleConfig()
	id := endpointID{served.GVK, ScaleName}
	if e, ok := t.found[id]; ok {
		return e, nil
	}
	served.Now, served.Cache = config.Now, config.Cache
	manager, err := managedfields.New(served)
	if err != nil {
		return nil, err
	}
	e := &Endpoint{Typ: served.Types[served.GVK.APIVersion()], Manager: manager}
	e.From, e.builtIn = "built in ("+KubernetesVersion+")", true
	t.found[id] = e
	return e, nil
}

// Scalable reports whether a kind has the subresource scale in any version.
func (t *Types) Scalable(group, kind string) bool {
	for _, source := range t.sources {
		found, _ := source(schema.GVK{Group: group, Kind: kind})
		for version := range found.Versions {
			if in, ok := source(schema.ParseGVK(version, kind)); ok && in.Replicas != nil {
				return true
			}
		}
	}
	return false
}

// declared returns the subresources of a version of a custom resource.
func (k kindTypes) declared(apiVersion string) []string {
	out := []string{}
	if k.Replicas[apiVersion] != nil {
		out = append(out, ScaleName)
	}
	if k.status[apiVersion] {
		out = append(out, StatusName)
	}
	return out
}

// replicasIn returns the paths of the replicas in a CustomResourceDefinition by apiVersion; nil if it has no subresource scale.
func replicasIn(definition value.Value) map[string]fieldpath.Path {
	var out map[string]fieldpath.Path
	for v := range definition.Get("spec", "versions").Items() {
		text := v.Get("subresources", ScaleName, "specReplicasPath").Str()
		if text == "" {
			continue
		}
		var path fieldpath.Path
		for _, name := range strings.Split(strings.TrimPrefix(text, "."), ".") {
			path = append(path, fieldpath.Field(name))
		}
		if out == nil {
			out = map[string]fieldpath.Path{}
		}
		out[schema.GVK{Group: definition.Get("spec", "group").Str(), Version: v.Get("name").Str()}.APIVersion()] = path
	}
	return out
}
