package histories

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

func openCustom(name string, crd []byte) (*World, error) { return openCustomWithout(name, crd, "") }

// openCustomWithout opens the world of a custom resource definition without one version.
func openCustomWithout(name string, text []byte, without string) (*World, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := utiljson.Unmarshal(text, &crd); err != nil {
		return nil, err
	}
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return crd.Spec.Group+"/"+v.Name == without
	})
	w := &World{
		Name: name, CRD: text, Kind: crd.Spec.Names.Kind, Types: map[string]*schema.Type{}, engines: map[Endpoint]*engines{},
		without: without, Preserve: crd.Spec.PreserveUnknownFields,
	}
	catalog, err := catalogOf(text)
	if err != nil {
		return nil, err
	}
	for _, v := range crd.Spec.Versions {
		gvk := schema.GVK{Group: crd.Spec.Group, Version: v.Name, Kind: w.Kind}
		t, ok := catalog.Lookup(gvk)
		if !ok {
			return nil, fmt.Errorf("no type for %v", gvk)
		}
		w.Versions, w.Types[gvk.APIVersion()] = append(w.Versions, gvk.APIVersion()), t
	}
	w.resets = map[string]reset{
		"": excluding(w.Versions[:1], "status"), "status": excluding(w.Versions, "metadata", "spec"),
		"resize": including(w.Versions[0], "a", "b"),
	}
	if w.Schemas, err = referenceSchemas(&crd); err != nil {
		return nil, err
	}
	w.peerTypes, err = managedfields.NewTypeConverter(w.Schemas, crd.Spec.PreserveUnknownFields)
	return w, err
}

func catalogOf(crd []byte) (*schema.Catalog, error) {
	v, err := value.Parse(crd)
	if err != nil {
		return nil, err
	}
	definitions, err := openapi.CRD(v)
	if err != nil {
		return nil, err
	}
	return definitions.Catalog()
}

// referenceSchemas converts a definition as an API server does before it serves applies.
func referenceSchemas(crd *apiextensionsv1.CustomResourceDefinition) (map[string]*spec.Schema, error) {
	var specs []*spec3.OpenAPI
	for _, v := range crd.Spec.Versions {
		s, err := builder.BuildOpenAPIV3(crd, v.Name, builder.Options{})
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	merged, err := builder.MergeSpecsV3(specs...)
	if err != nil {
		return nil, err
	}
	return merged.Components.Schemas, nil
}
