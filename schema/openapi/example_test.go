package openapi_test

import (
	"fmt"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

func ExampleCRD() {
	crd, err := value.Parse([]byte(`{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "gardens.example.com"},
		"spec": {"group": "example.com", "names": {"kind": "Garden"}, "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
			"type": "object", "properties": {"beds": {
				"type": "array", "items": {"type": "object", "properties": {"row": {"type": "integer"}}},
				"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["row"]
			}}
		}}}]}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	definitions, err := openapi.CRD(crd)
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := definitions.Catalog()
	if err != nil {
		fmt.Println(err)
		return
	}
	garden, _ := catalog.Lookup(schema.GVK{Group: "example.com", Version: "v1", Kind: "Garden"})
	beds, _ := garden.Map().Lookup("beds")
	fmt.Println(garden.Name(), "has beds by", beds.List().Keys()[0].Name)
	// Output: com.example.v1.Garden has beds by row
}

func ExampleV3() {
	definitions, err := openapi.V3([]byte(`{"openapi": "3.0.0", "components": {"schemas": {
		"com.example.v1.Garden": {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}},
			"x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Garden"}]}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, kind := range definitions.Kinds {
		fmt.Println(kind.GVK, "is", kind.Type)
	}
	fmt.Println(definitions.Document.Types[2].Map.Fields[0].Type.Inlined.List.Relationship)
	// Output:
	// example.com/v1, Kind=Garden is com.example.v1.Garden
	// associative
}
