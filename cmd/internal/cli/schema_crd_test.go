package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/schemafile"
)

// nullable matches a line that has no effect in a document, and that a conversion to a definition drops.
var nullable = regexp.MustCompile(`(?m)^ *nullable: true\n`)

// TestDefinitionsRoundTrip converts definitions to documents and back, and checks that the second document equals the first.
func TestDefinitionsRoundTrip(t *testing.T) {
	const testdata = "../../../testdata/"
	files := []string{
		testdata + "manifests/customresourcedefinition/a.yaml", testdata + "manifests/customresourcedefinition/a2.yaml",
		testdata + "docs/crd.yaml", testdata + "docs/crd-new.yaml", testdata + "script/rules/widget.yaml", testdata + "objects/crd.json",
	}
	convert := func(args ...string) string {
		var out, stderr strings.Builder
		if code := Run(append([]string{"schema", "convert"}, args...), bytes.NewReader(nil), &out, &stderr); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, stderr.String())
		}
		return out.String()
	}
	for _, file := range files {
		definition := filepath.Join(t.TempDir(), "crd.yaml")
		if err := os.WriteFile(definition, []byte(convert(file, "--to", schemafile.CrdForm)), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, want := convert(definition), nullable.ReplaceAllString(convert(file), ""); got != want {
			t.Errorf("%s: there and back it is\n%s\nwant\n%s", file, got, want)
		}
	}
}
