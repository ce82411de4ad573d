package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/internal/folder"
)

// tree is a project of kubebuilder, and an overlay that patches files elsewhere.
const tree = `
-- crd/bases/widgets.yaml --
-- crd/kustomization.yaml --
resources: [bases/widgets.yaml]
patches:
- path: patches/webhook.yaml
- {target: {kind: CustomResourceDefinition}, patch: "- {op: remove, path: /spec/x}"}
configurations: [kustomizeconfig.yaml]
-- crd/kustomizeconfig.yaml --
-- crd/patches/left.yaml --
-- crd/patches/webhook.yaml --
-- overlay/Kustomization --
patchesStrategicMerge:
- ../shared/replicas.yaml
- |
  kind: Deployment
configMapGenerator:
- {name: c, files: [application.json, other=data.yaml]}
openapi: {path: schema.json}
-- overlay/application.json --
-- overlay/data.yaml --
-- overlay/schema.json --
-- overlay/web.yml --
-- shared/notes.txt --
-- shared/replicas.yaml --
-- torn/kustomization.yml --
patches: [
-- torn/a.yaml --
`

func TestManifests(t *testing.T) {
	dir := t.TempDir()
	files, err := txtar.FS(txtar.Parse([]byte(tree)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder    string
		recursive bool
		want      []string
	}{
		{".", true, []string{"crd/bases/widgets.yaml", "crd/patches/left.yaml", "overlay/web.yml", "torn/a.yaml"}},
		{"crd", true, []string{"crd/bases/widgets.yaml", "crd/patches/left.yaml"}},
		{"crd", false, nil},
		{"shared", true, []string{"shared/replicas.yaml"}}, // the kustomization is elsewhere
		{"overlay/", false, []string{"overlay/web.yml"}},
	} {
		var got []string
		for file, err := range folder.Manifests(filepath.Join(dir, c.folder), c.recursive) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(strings.TrimPrefix(file, dir+string(filepath.Separator))))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s (recursive: %v) has the manifests %q, want %q", c.folder, c.recursive, got, c.want)
		}
	}
}

// TestErrors checks the error for a missing folder, and early breaks of the loop.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	count := 0
	for _, err := range folder.Manifests(filepath.Join(dir, "none"), true) {
		if count++; !os.IsNotExist(err) {
			t.Errorf("the error is %v", err)
		}
	}
	if count != 1 {
		t.Errorf("%d errors", count)
	}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for file := range folder.Manifests(dir, true) {
		if filepath.Base(file) != "a.yaml" {
			t.Errorf("the first file is %s", file)
		}
		break
	}
}
