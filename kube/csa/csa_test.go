package csa_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// secretOf returns the Secret of a release of Helm.
func secretOf(t *testing.T, release string) map[string]any {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(release)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	inner := base64.StdEncoding.EncodeToString(packed.Bytes())
	return map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "metadata": map[string]any{"name": "sh.helm.release.v1.web.v1"},
		"data": map[string]any{"release": base64.StdEncoding.EncodeToString([]byte(inner))}}
}

func TestInventoryOf(t *testing.T) {
	for name, c := range map[string]struct {
		owner any
		want  string
	}{
		"a Kustomization": {[]byte(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","status":{"inventory":{"entries":[
			{"id":"shop_web_apps_Deployment","v":"v1"},{"id":"_system__web_rbac.authorization.k8s.io_ClusterRole","v":"v1"},{"id":"shop_web__Service","v":"v1"}]}}}`),
			"Flux, [kubectl] to kustomize-controller: apps/v1 Deployment shop/web, rbac.authorization.k8s.io/v1 ClusterRole system:web, v1 Service shop/web"},
		"a HelmRelease": {[]byte(`{"apiVersion":"helm.toolkit.fluxcd.io/v2","kind":"HelmRelease","status":{"inventory":{"entries":[{"id":"shop_web__Service","v":"v1"}]}}}`),
			"Flux, [helm helm-controller] to helm-controller: v1 Service shop/web"},
		"an Application": {[]byte(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","status":{"resources":[
			{"group":"apps","version":"v1","kind":"Deployment","namespace":"shop","name":"web"},{"version":"v1","kind":"Pod","name":"check","hook":true}]}}`),
			"Argo CD, [argocd-application-controller argocd-controller kubectl-client-side-apply] to argocd-controller: apps/v1 Deployment shop/web"},
		"a release": {secretOf(t, `{"name":"web","namespace":"shop","manifest":"---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n# nothing\n---\n`+
			`apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: other, namespace: else}\n"}`),
			"Helm, [helm] to helm: v1 Service shop/web, v1 Namespace shop, v1 Service else/other"},
	} {
		i, err := csa.InventoryOf(c.owner)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var objects []string
		for _, r := range i.Objects {
			objects = append(objects, r.String())
		}
		if got := fmt.Sprintf("%s, %v to %s: %s", i.Tool, i.From, i.To, strings.Join(objects, ", ")); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for name, owner := range map[string]any{
		"another kind":           map[string]any{"apiVersion": "v1", "kind": "Pod"},
		"an entry without kind":  []byte(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","status":{"inventory":{"entries":[{"id":"a_b"}]}}}`),
		"a release without gzip": map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1", "data": map[string]any{"release": "eA=="}},
		"a manifest of no YAML":  secretOf(t, `{"manifest":"a: b: c"}`),
		"no object":              7,
	} {
		if i, err := csa.InventoryOf(owner); err == nil {
			t.Errorf("%s: %v", name, i)
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
