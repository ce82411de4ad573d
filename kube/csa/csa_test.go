package csa_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/csa"
	"github.com/deed-project/deed/kube/inventory"
)

// clientSide is an object that kubectl applied on the client side.
func clientSide() *unstructured.Unstructured {
	registry, err := kube.NewRegistry(kube.Sources{})
	if err != nil {
		panic(err)
	}
	out, err := registry.Update(nil, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"color": "blue", "size": "1"},
		"metadata": map[string]any{"name": "web", "namespace": "shop", "annotations": map[string]any{
			"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"v1","kind":"ConfigMap"}`,
		}},
	}, kube.WriteOptions{Manager: "kubectl-client-side-apply"})
	if err != nil {
		panic(err)
	}
	u := &unstructured.Unstructured{}
	if err := out.Into(u); err != nil {
		panic(err)
	}
	u.SetResourceVersion("7")
	return u
}

func ExamplePreview() {
	live := clientSide()
	config := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "namespace": "shop"},
		"data": map[string]any{"color": "blue"},
	}
	preview, err := csa.Preview(live, config, nil, sets.New("kubectl-client-side-apply"), "argocd-controller")
	if err != nil {
		panic(err)
	}
	for _, e := range preview.Object.Entries {
		fmt.Println(e.Manager, e.Operation)
	}
	for _, l := range preview.Removed {
		fmt.Println("removes", l.Path.Text())
	}
	// Output:
	// argocd-controller Apply
	// removes .data.size
	// removes .metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"
}

// TestNothing upgrades an object for no manager, which is no change, in whatever form its entries are.
func TestNothing(t *testing.T) {
	for _, entries := range [][]metav1.ManagedFieldsEntry{nil, {}, {{Manager: "a", Operation: "Update", Time: &metav1.Time{}}}} {
		o := &metav1.PartialObjectMetadata{}
		o.ManagedFields = entries
		if patch, err := csa.UpgradeManagedFieldsPatch(o, sets.New[string](), "me"); patch != nil || err != nil {
			t.Errorf("%v: %s, %v", entries, patch, err)
		}
	}
}

// cluster is a client of objects by name.
type cluster struct {
	objects map[string]*unstructured.Unstructured
	patched []string
}

func (c *cluster) Get(_ context.Context, r inventory.Reference) (any, error) {
	if r.Name == "broken" {
		return nil, errors.New("no connection")
	}
	if o, ok := c.objects[r.Name]; ok {
		return o, nil
	}
	return nil, apierrors.NewNotFound(r.GVK.GroupVersion().WithResource("configmaps").GroupResource(), r.Name)
}

func (c *cluster) Patch(_ context.Context, r inventory.Reference, patch []byte) error {
	c.patched = append(c.patched, r.Name+" "+string(patch))
	return nil
}

func TestMigrate(t *testing.T) {
	c := &cluster{objects: map[string]*unstructured.Unstructured{"web": clientSide(), "bare": {Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}}}
	i := inventory.Inventory{To: "argocd-controller"}
	for _, name := range []string{"web", "missing", "bare", "broken"} {
		i.Objects = append(i.Objects, inventory.Reference{Name: name})
	}
	preview := csa.MigrateInventory(t.Context(), i, c, true)
	if len(c.patched) != 0 {
		t.Fatalf("a preview patches %v", c.patched)
	}
	if got := preview[0]; fmt.Sprint(got.From) != "[kubectl-client-side-apply]" || got.Patch == nil || got.After[0].Manager != "argocd-controller" {
		t.Errorf("the object of kubectl: %+v", got)
	}
	if !preview[1].Missing || preview[1].Err != nil || preview[2].Patch != nil || preview[2].Err != nil || preview[3].Err == nil {
		t.Errorf("the others: %+v", preview[1:])
	}
	csa.MigrateInventory(t.Context(), i, c, false)
	if len(c.patched) != 1 || !strings.Contains(c.patched[0], `"value":"7"`) {
		t.Errorf("patched: %v", c.patched)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := csa.MigrateInventory(ctx, i, c, false); len(c.patched) != 1 || !errors.Is(got[0].Err, context.Canceled) {
		t.Errorf("after the end: %+v", got)
	}
}
