package managedfields_test

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
)

func ExampleScaleEntries() {
	o, err := managedfields.ParseObject([]byte(`{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one", "managedFields": [
			{"manager": "autoscaler", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			 "fieldsV1": {"f:spec":{"f:replicas":{}}}}]},
		"spec": {"replicas": 3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	scale, err := managedfields.ScaleEntries(o.Entries, map[string]fieldpath.Path{
		"example.com/v1": {fieldpath.Field("spec"), fieldpath.Field("replicas")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range scale {
		fmt.Printf("%s %s %s\n", e.Manager, e.APIVersion, e.FieldsV1)
	}
	// Output: autoscaler autoscaling/v1 {"f:spec":{"f:replicas":{}}}
}

func ExampleDecoder() {
	var d managedfields.Decoder
	live, err := d.Parse([]byte(`{"kind":"Thing","metadata":{"labels":{"a":"1"}},"spec":{"replicas":1}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	object, err := d.Parse([]byte(`{"kind":"Thing","metadata":{"labels":{"a":"1"}},"spec":{"replicas":2}}`))
	fmt.Println(object.Content.Get("metadata").Same(live.Content.Get("metadata")), err)
	// Output: true <nil>
}

func ExampleNewCache() {
	cache := managedfields.NewCache(8 << 20) // for several field managers, in their Config.Cache
	fmt.Println(managing.CacheSize(cache) <= 8<<20)
	// Output: true
}

func ExampleObject_AsAny() {
	object, err := managedfields.ParseObject([]byte(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "1"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := object.AsAny()
	fmt.Println(content["data"], err)
	// Output: map[a:1] <nil>
}

func ExampleProfileOf() {
	profile, err := managedfields.ProfileOf("1.33") // for Config.Profile
	fmt.Println(profile.AllKeys, profile.KeepEmptied, err)
	// Output: true false <nil>
}
