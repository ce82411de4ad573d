package kube_test

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/kube"
)

func ExampleRegistry_Apply() {
	registry, err := kube.NewRegistry(kube.Sources{}) // the built-in kinds
	if err != nil {
		panic(err)
	}
	config := func(value string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": map[string]any{"color": value},
		}
	}
	live, err := registry.Apply(nil, config("blue"), kube.WriteOptions{Manager: "alice"})
	if err != nil {
		panic(err)
	}
	_, err = registry.Apply(live.Object, config("red"), kube.WriteOptions{Manager: "bob"})
	fmt.Println(apierrors.IsConflict(err), err)

	same, err := registry.Apply(live.Object, config("blue"), kube.WriteOptions{Manager: "bob"})
	fmt.Println(same.Content, same.Ownership, err)
	// Output:
	// true Apply failed with 1 conflict: conflict with "alice": .data.color
	// false true <nil>
}
