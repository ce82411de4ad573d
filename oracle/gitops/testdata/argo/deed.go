package diff

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/gitops"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// This file stands in for the comparisons of package diff: each of them asks deed.

// structuredMergeDiff compares as a server-side apply by the manager of p would change the live object.
func structuredMergeDiff(p *SMDParams) (*DiffResult, error) {
	return deedDiff(p.live.Object, p.config, p.manager)
}

// ThreeWayDiff compares as an apply by a manager would, who has applied orig before and is the only one.
func ThreeWayDiff(orig, config, live *unstructured.Unstructured) (*DiffResult, error) {
	orig, config = removeNamespaceAnnotation(orig), removeNamespaceAnnotation(config)
	registry, err := kube.NewRegistry(kube.Sources{})
	if err != nil {
		return nil, err
	}
	object, err := kube.ObjectOf(orig)
	if err != nil {
		return nil, err
	}
	to, err := registry.Lenient(gvkschema.GroupVersionKind(object.GVK()), "")
	if err != nil {
		return nil, err
	}
	var entries []managedfields.Entry
	if before, err := to.Manager.Apply(managedfields.Object{}, managedfields.Object{Content: object.Content}, "me", true); err == nil {
		entries = before.Entries
	}
	current, err := kube.ObjectOf(live)
	if err != nil {
		return nil, err
	}
	return deedDiff(managedfields.Object{Content: current.Content, Entries: entries}, config, "me")
}

// deedDiff returns the result of a comparison as Argo CD has it.
func deedDiff(live any, config *unstructured.Unstructured, manager string) (*DiffResult, error) {
	r, err := gitops.Diff(live, config, nil, gitops.Options{Manager: manager})
	if err != nil {
		return nil, err
	}
	registry, err := kube.NewRegistry(kube.Sources{})
	if err != nil {
		return nil, err
	}
	to, err := registry.Lenient(config.GroupVersionKind(), "")
	if err != nil {
		return nil, err
	}
	var sides [2][]byte
	for i, content := range []value.Value{r.Live, r.Object.Content} {
		if to.Config.Hold != nil { // Argo CD shows default values, also where nothing changes
			if held, err := to.Config.Hold(content); err == nil {
				content = held
			}
		}
		object, _ := content.ToAny().(map[string]any)
		unstructured.RemoveNestedField(object, "metadata", "annotations", AnnotationLastAppliedConfig)
		if sides[i], err = json.Marshal(object); err != nil {
			return nil, err
		}
	}
	return &DiffResult{Modified: r.Modified(), NormalizedLive: sides[0], PredictedLive: sides[1]}, nil
}
