package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const kustomized = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
`

// TestKustomize builds a kustomization with the transformer in the help of deed krm, by the library of kustomize. It leaves valid resources as
// they are, and an invalid one makes the build fail.
func TestKustomize(t *testing.T) {
	dir := t.TempDir()
	function := strings.ReplaceAll(newCLI(nil, nil, nil).krmCommand().Example, "\n  ", "\n")
	for name, text := range map[string]string{
		"web.yaml": kustomized, "deed.yaml": strings.Replace(function, "  crd: crds", "", 1),
		"kustomization.yaml": "resources: [web.yaml]\ntransformers: [deed.yaml]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = kustomize.EnabledPluginConfig(kustomize.BploUseStaticallyLinked)
	options.PluginConfig.FnpLoadingOptions.EnableExec = true
	options.PluginConfig.FnpLoadingOptions.WorkingDir = dir
	build := func() (string, error) {
		built, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), dir)
		if err != nil {
			return "", err
		}
		text, err := built.AsYaml()
		return string(text), err
	}
	if text, err := build(); err != nil || !strings.Contains(text, "replicas: 2") || strings.Contains(text, "config.kubernetes.io") {
		t.Errorf("a valid resource: %v\n%s", err, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "web.yaml"), []byte(strings.Replace(kustomized, "replicas", "replcas", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := build(); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("an invalid resource: %v\n%s", err, text)
	}
}
