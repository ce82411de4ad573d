package openapi

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// goldenReasons has the goldens that the reference has no outcome for, with the reason.
var goldenReasons = map[string]string{
	"crd-incomplete":   "the API server does not store it",
	"crd-no-versions":  "the API server does not store it",
	"crd-pod":          "no definition",
	"crd-v1beta1":      "not served",
	"kind-twice":       "which type has the kind is random, see TestKindTwice",
	"problems-v3":      "the reference panics on the null schema, see TestNullSchema",
	"problem-v2-crash": "the reference panics, see TestItemsThatAreNoSchemas",
}

// TestGoldens checks that the goldens of the conversions are Kubernetes' outcomes for the same inputs.
func TestGoldens(t *testing.T) {
	paths, err := filepath.Glob("../../schema/openapi/testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if goldenReasons[name] != "" {
			continue
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(name+"/"+f.Name, func(t *testing.T) { compareGolden(t, f) })
		}
	}
}

func compareGolden(t *testing.T, f txtar.File) {
	if f.Name == "schemas" || f.Name == "schemas-v3" {
		doc := `{"openapi":"3.0.0","components":{"schemas":` + strings.ReplaceAll(string(f.Data), "REF/", "#/components/schemas/") + `}}`
		got, err := openapi.V3([]byte(doc))
		compare(t, doc, got, err, referenceV3(t, []byte(doc)), false)
	}
	if f.Name == "schemas" || f.Name == "schemas-v2" {
		doc := `{"swagger":"2.0","info":{"title":"","version":""},"paths":{},"definitions":` +
			strings.ReplaceAll(string(f.Data), "REF/", "#/definitions/") + `}`
		got, err := openapi.V2([]byte(doc))
		compare(t, doc, got, err, referenceV2(t, []byte(doc)), false)
	}
	if f.Name == "crd" {
		crd, err := value.Parse(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := openapi.CRD(crd)
		compare(t, string(f.Data), got, err, referenceCRD(t, f.Data), true)
	}
}
