package builtin

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// scaleName is the name of the type of Scales.
const scaleName = "io.k8s.api.autoscaling.v1.Scale"

// scaleTypes has the type of Scales and its parts, in the form of the types in schema.json. Clients write replicas through a Scale, and
// no server stores it, so it is not among the kinds of that file.
const scaleTypes = `
{"name":"io.k8s.api.autoscaling.v1.Scale","map":{"fields":[` +
	`{"name":"apiVersion","type":{"scalar":"string"}},` +
	`{"name":"kind","type":{"scalar":"string"}},` +
	`{"name":"metadata","type":{"namedType":"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},"default":{}},` +
	`{"name":"spec","type":{"namedType":"io.k8s.api.autoscaling.v1.ScaleSpec"},"default":{}},` +
	`{"name":"status","type":{"namedType":"io.k8s.api.autoscaling.v1.ScaleStatus"},"default":{}}]}}
{"name":"io.k8s.api.autoscaling.v1.ScaleSpec","map":{"fields":[` +
	`{"name":"replicas","type":{"scalar":"numeric"},"default":0}]}}
{"name":"io.k8s.api.autoscaling.v1.ScaleStatus","map":{"fields":[` +
	`{"name":"replicas","type":{"scalar":"numeric"},"default":0},` +
	`{"name":"selector","type":{"scalar":"string"}}]}}
`

// ScaleConfig returns the configuration of the endpoint for the subresource scale. It writes the number of replicas of an object,
// as an object of kind Scale. [managedfields.ScaleEntries] converts the entries of owners for it, and
// [managedfields.EntriesAfterScale] converts them back.
func ScaleConfig() managedfields.Config {
	gvk := schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	k, _ := Lookup(gvk)
	types, err := all().compile(scaleName)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return managedfields.Config{
		GVK: gvk, Hold: k.Held, Read: k.read, Types: map[string]*schema.Type{gvk.APIVersion(): types[scaleName]}, Subresource: "scale",
		Empty: object(
			member("apiVersion", value.String(gvk.APIVersion())), member("kind", value.String(gvk.Kind)),
			member("metadata", value.Object()), member("spec", value.Object()),
			member("status", object(member("replicas", value.Int(0)))),
		),
	}
}

// Replicas returns, by apiVersion, the path of the number of replicas in objects of the kind, for [managedfields.ScaleEntries].
// It is nil for a kind without the subresource scale. The map includes versions that servers no longer serve, because a server
// still knows them there.
func (k *Kind) Replicas() map[string]fieldpath.Path {
	k = k.known()
	scalable := false
	for _, s := range k.Subresources {
		scalable = scalable || s.Name == "scale"
	}
	if !scalable {
		return nil
	}
	out := map[string]fieldpath.Path{}
	for _, sibling := range Siblings(k.GVK) {
		if sibling.GVK.Group == k.GVK.Group {
			out[sibling.GVK.APIVersion()] = fieldpath.Path{fieldpath.Field("spec"), fieldpath.Field("replicas")}
		}
	}
	return out
}
