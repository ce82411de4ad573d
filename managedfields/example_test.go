package managedfields_test

import (
	"fmt"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
)

func ExampleScaleHandler() {
	o, err := managedfields.ParseObject([]byte(`{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "one", "managedFields": [
			{"manager": "autoscaler", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1",
			 "fieldsV1": {"f:spec":{"f:replicas":{}}}}]},
		"spec": {"replicas": 3}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	h := managedfields.NewScaleHandler(o.Entries, "example.com/v1", map[string]fieldpath.Path{
		"example.com/v1": {fieldpath.Field("spec"), fieldpath.Field("replicas")},
	})
	scale, err := h.ToSubresource()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range scale {
		fmt.Printf("%s %s %s\n", e.Manager, e.APIVersion, e.FieldsV1)
	}
	// Output: autoscaler autoscaling/v1 {"f:spec":{"f:replicas":{}}}
}
