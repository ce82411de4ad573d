package openapi

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// moduleFile returns the path of a file in the source of a module that this one requires.
func moduleFile(t *testing.T, module, path string) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("module %s: %v", module, err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(path))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSwaggerOfKubernetes(t *testing.T) {
	for _, file := range []struct{ module, path string }{
		{"k8s.io/apimachinery", "pkg/util/managedfields/internal/testdata/swagger.json"},
		{"k8s.io/apiextensions-apiserver", "pkg/apiserver/testdata/swagger.json"},
		{"k8s.io/kube-openapi", "pkg/util/proto/testdata/swagger.json"},
		{"k8s.io/kube-openapi", "pkg/schemaconv/testdata/swagger.json"},
	} {
		t.Run(file.module+"/"+file.path, func(t *testing.T) {
			doc := read(t, moduleFile(t, file.module, file.path))
			got, err := openapi.V2(doc)
			compare(t, file.path, got, err, referenceV2(t, doc), false)
			if err == nil && len(got.Document.Types) < 10 {
				t.Errorf("only %d types", len(got.Document.Types))
			}
		})
	}
}

func TestOpenAPIV3OfKubernetes(t *testing.T) {
	paths, err := filepath.Glob(moduleFile(t, "k8s.io/client-go", "openapi/openapitest/testdata/*_openapi.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	var docs [][]byte
	for _, path := range paths {
		doc := read(t, path)
		docs = append(docs, doc)
		t.Run(filepath.Base(path), func(t *testing.T) {
			got, err := openapi.V3(doc)
			compare(t, path, got, err, referenceV3(t, doc), false)
			if _, err := got.Catalog(); err != nil {
				t.Errorf("the catalog has problems: %v", err)
			}
		})
	}
	all, err := openapi.V3(docs...)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := all.Catalog()
	if err != nil {
		t.Error(err)
	}
	for _, gvk := range []schema.GVK{{Version: "v1", Kind: "Pod"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "batch", Version: "v1", Kind: "Job"}} {
		if _, ok := catalog.Lookup(gvk); !ok {
			t.Errorf("the catalog lacks %v", gvk)
		}
	}
}

// TestRecordedCRDs converts the definitions of every recorded history. DEED_RECORDINGS names one more file of them.
func TestRecordedCRDs(t *testing.T) {
	const folder = "../../testdata/recordings/"
	crds := append(recordedCRDs(t, folder+"recordings.jsonl.gz"), recordedCRDs(t, folder+"more.jsonl.gz")...)
	if path := os.Getenv("DEED_RECORDINGS"); path != "" {
		crds = append(crds, recordedCRDs(t, path)...)
	}
	seen := map[string]bool{}
	for _, text := range crds {
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		crd, err := value.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := openapi.CRD(crd)
		compare(t, string(text), got, err, referenceCRD(t, text), true)
		if err == nil && len(got.Warnings) > 0 {
			t.Errorf("%s\nwarnings %v", text, got.Warnings)
		}
		if _, err := got.Catalog(); err != nil {
			t.Errorf("%s\nthe catalog has problems: %v", text, err)
		}
	}
	t.Logf("%d definitions", len(seen))
}

func recordedCRDs(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	var out []json.RawMessage
	lines := bufio.NewReader(zipped)
	for decoder := json.NewDecoder(lines); decoder.More(); {
		var scenario struct{ CRD json.RawMessage }
		if err := decoder.Decode(&scenario); err != nil {
			t.Fatal(err)
		}
		out = append(out, scenario.CRD)
	}
	return out
}
