// Package inventory reads the records of GitOps tools in the cluster about the objects that they manage:
//
//	Kustomization, HelmRelease  status.inventory.entries: [{id: shop_web_apps_Deployment, v: v1}]
//	Application                 status.resources: [{group: apps, version: v1, kind: Deployment, namespace: shop, name: web}]
//	Secret of a release         data.release: the release as JSON, in gzip, in base64, in base64
//
// Its only Kubernetes dependency is the package that names kinds, so that a program that only reads inventories starts fast. Package csa
// migrates the objects.
package inventory

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Reference names an object.
type Reference struct {
	GVK             gvkschema.GroupVersionKind
	Namespace, Name string
}

// String returns the reference as group/version, Kind namespace/name.
func (r Reference) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s %s", r.GVK.GroupVersion(), r.GVK.Kind, r.Name)
	}
	return fmt.Sprintf("%s %s %s/%s", r.GVK.GroupVersion(), r.GVK.Kind, r.Namespace, r.Name)
}

// Inventory lists the objects that a tool manages. It names the managers whose fields a migration moves, and their new owner. The caller
// may change all of it.
type Inventory struct {
	Tool    string // Flux, Argo CD or Helm
	Objects []Reference
	From    []string // the updaters that wrote for the tool by client-side apply. Updaters that own kubectl's record are migrated, too.
	To      string   // the applier under which the tool applies
}

// Of returns the inventory that owner records:
//
//   - a Kustomization or HelmRelease of Flux;
//   - an Application of Argo CD, without the resources that are hooks;
//   - the Secret in which Helm stores a release, without hooks, and with the items of lists. An object whose manifest has no namespace
//     is in the namespace of the release, unless its kind is a built-in kind without namespaces. A kind that Kubernetes itself does not
//     have may also be without namespaces.
//
// Of returns an error if owner has another kind, or if its record is invalid. Errors quote nothing of a release.
func Of(owner managedfields.Object) (Inventory, error) {
	content := owner.Content
	switch gvk := owner.GVK(); {
	case gvk.Group == "kustomize.toolkit.fluxcd.io" && gvk.Kind == "Kustomization":
		return flux(content, "kustomize-controller")
	case gvk.Group == "helm.toolkit.fluxcd.io" && gvk.Kind == "HelmRelease":
		return flux(content, "helm-controller")
	case gvk.Group == "argoproj.io" && gvk.Kind == "Application":
		return argo(content), nil
	case gvk.Group == "" && gvk.Kind == "Secret" && strings.HasPrefix(content.Get("type").Str(), "helm.sh/release."):
		return helm(content)
	default:
		return Inventory{}, fmt.Errorf("%s %s records no inventory of Flux, Argo CD or Helm", gvk.APIVersion(), gvk.Kind)
	}
}

// flux reads the entries of an inventory. An entry writes a colon in a name as two underscores.
func flux(owner value.Value, to string) (Inventory, error) {
	out := Inventory{Tool: "Flux", From: []string{"kubectl"}, To: to}
	if to == "helm-controller" {
		out.From = []string{"helm", "helm-controller"}
	}
	for entry := range owner.Get("status", "inventory", "entries").Items() {
		id := entry.Get("id").Str()
		namespace, rest, _ := strings.Cut(id, "_")
		kindAt := strings.LastIndexByte(rest, '_')
		groupAt := strings.LastIndexByte(rest[:max(kindAt, 0)], '_')
		if groupAt < 0 {
			return out, fmt.Errorf("the entry %q of the inventory is not namespace_name_group_kind", id)
		}
		out.Objects = append(out.Objects, Reference{
			GVK:       gvkschema.GroupVersionKind{Group: rest[groupAt+1 : kindAt], Version: entry.Get("v").Str(), Kind: rest[kindAt+1:]},
			Namespace: namespace, Name: strings.ReplaceAll(rest[:groupAt], "__", ":"),
		})
	}
	return out, nil
}

// argo reads the resources of an application.
func argo(owner value.Value) Inventory {
	out := Inventory{Tool: "Argo CD", From: []string{"argocd-application-controller", "argocd-controller", "kubectl-client-side-apply"}, To: "argocd-controller"}
	for r := range owner.Get("status", "resources").Items() {
		if r.Get("hook").Bool() {
			continue
		}
		out.Objects = append(out.Objects, Reference{
			GVK:       gvkschema.GroupVersionKind{Group: r.Get("group").Str(), Version: r.Get("version").Str(), Kind: r.Get("kind").Str()},
			Namespace: r.Get("namespace").Str(), Name: r.Get("name").Str(),
		})
	}
	return out
}

// maxRelease bounds the bytes of a release: etcd stores about 1.5 MiB, which decompress to far more.
const maxRelease = 64 << 20

// helm reads the manifest of a release.
func helm(owner value.Value) (Inventory, error) {
	out := Inventory{Tool: "Helm", From: []string{"helm"}, To: "helm"}
	release, err := releaseIn(owner.Get("data", "release").Str())
	if err != nil {
		return out, err
	}
	documents, err := yaml.Parse("manifest", []byte(release.Get("manifest").Str()))
	if err != nil {
		return out, errors.New("the manifest of the release is no YAML")
	}
	for _, document := range documents {
		out.addManifest(document.Value, release.Get("namespace").Str())
	}
	return out, nil
}

// addManifest adds object, or the items of a list, as Helm does. namespace is that of the release.
func (i *Inventory) addManifest(object value.Value, namespace string) {
	if items := object.Get("items"); items.Kind() == value.KindList {
		for item := range items.Items() {
			i.addManifest(item, namespace)
		}
		return
	}
	if object.Kind() != value.KindObject {
		return
	}
	gvk := schema.ParseGVK(object.Get("apiVersion").Str(), object.Get("kind").Str())
	if own := object.Get("metadata", "namespace").Str(); own != "" {
		namespace = own
	}
	if k, known := builtin.Lookup(gvk); known && !k.Namespaced {
		namespace = ""
	}
	i.Objects = append(i.Objects, Reference{gvkschema.GroupVersionKind(gvk), namespace, object.Get("metadata", "name").Str()})
}

// releaseIn returns the release in the data of a Secret.
func releaseIn(data string) (value.Value, error) {
	outer, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return value.Value{}, errors.New("the release is no base64")
	}
	packed, err := base64.StdEncoding.DecodeString(string(outer))
	if err != nil {
		return value.Value{}, errors.New("the release is no base64 within")
	}
	text := packed
	if bytes.HasPrefix(packed, []byte{0x1f, 0x8b}) {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(r, maxRelease))
		}
		if err != nil {
			return value.Value{}, errors.New("the release is no gzip")
		}
	}
	release, err := value.Parse(text)
	if err != nil {
		return value.Value{}, errors.New("the release is no JSON")
	}
	return release, nil
}
