package gitops_test

import (
	"fmt"

	"github.com/deed-project/deed/kube/gitops"
)

func ExampleDiff() {
	// What somebody else's autoscaler and a server of a newer release made of a deployment.
	live := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","managedFields":[
		{"manager":"argocd-controller","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{}}}}}}}},
		{"manager":"scaler","operation":"Update","apiVersion":"apps/v1","subresource":"scale","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},
		"spec":{"replicas":5,"newInNextRelease":true,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
		"spec":{"containers":[{"name":"web","image":"web:1"}]}}}}`)
	desired := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{
			"replicas": 2, "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web:2"}}}},
		},
	}
	result, err := gitops.Diff(live, desired, nil, gitops.Options{Manager: "argocd-controller"})
	if err != nil {
		panic(err)
	}
	fmt.Print(result)
	// Output:
	// Deployment web: 2 changes, 1 conflict, 1 unknown field
	//   ~ .spec.replicas: 5 -> 2
	//   ~ .spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
	//   ? .spec.newInNextRelease: not in the schema, kept
	//   ! .spec.replicas: conflict with "scaler" with subresource "scale" using apps/v1: remove .spec.replicas from the desired object: a scaler writes it
}
