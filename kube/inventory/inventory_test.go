package inventory_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/inventory"
)

// read returns the inventory that an object records.
func read(owner any) (inventory.Inventory, error) {
	o, err := kube.ObjectOf(owner)
	if err != nil {
		return inventory.Inventory{}, err
	}
	return inventory.Of(o)
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

func TestOf(t *testing.T) {
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
		"a release with a list": {secretOf(t, `{"namespace":"shop","manifest":"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: web}}\n`+
			`- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n"}`), "Helm, [helm] to helm: v1 Service shop/web, v1 Namespace shop"},
	} {
		i, err := read(c.owner)
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
		if i, err := read(owner); err == nil {
			t.Errorf("%s: %v", name, i)
		}
	}
}
