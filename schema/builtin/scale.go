package builtin

import (
	"sync"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// scaleTypes describes the Scale object. Clients write replicas through it.
const scaleTypes = `{"types":[
	{"name":"Scale","map":{"fields":[
		{"name":"apiVersion","type":{"scalar":"string"}},
		{"name":"kind","type":{"scalar":"string"}},
		{"name":"metadata","type":{"namedType":"Meta"}},
		{"name":"spec","type":{"namedType":"Spec"}},
		{"name":"status","type":{"namedType":"Status"}}]}},
	{"name":"Meta","map":{"elementType":{"namedType":"Any"}}},
	{"name":"Spec","map":{"fields":[{"name":"replicas","type":{"scalar":"numeric"},"default":0}]}},
	{"name":"Status","map":{"fields":[
		{"name":"replicas","type":{"scalar":"numeric"},"default":0},
		{"name":"selector","type":{"scalar":"string"}}]}},
	{"name":"Any","scalar":"untyped",
		"list":{"elementType":{"namedType":"Any"},"elementRelationship":"atomic"},
		"map":{"elementType":{"namedType":"Any"},"elementRelationship":"separable"}}
]}`

// scaleType is the type of Scale objects.
var scaleType = sync.OnceValue(func() *schema.Type {
	text, err := value.Parse([]byte(scaleTypes))
	if err != nil {
		panic("builtin: " + err.Error())
	}
	document, err := schema.ParseDocument(text)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	compiled, err := schema.Compile(document)
	if err != nil {
		panic("builtin: " + err.Error())
	}
	t := compiled["Scale"]
	return t
})

// ScaleConfig returns the configuration of the endpoint for the subresource scale. It writes the number of replicas of an object,
// as an object of kind Scale. [managedfields.ScaleEntries] converts the entries of owners for it, and
// [managedfields.EntriesAfterScale] converts them back.
func ScaleConfig() managedfields.Config {
	gvk := schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}
	k, _ := Lookup(gvk)
	return managedfields.Config{
		GVK: gvk, Hold: k.Held, Read: k.read, Types: map[string]*schema.Type{gvk.APIVersion(): scaleType()}, Subresource: "scale",
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
