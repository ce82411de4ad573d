package apitest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/apitest"
)

// failing is a testing.TB that records its failure.
type failing struct {
	testing.TB
	why string
}

// failed is the panic value that stands for runtime.Goexit.
type failed struct{}

func (f *failing) Fatal(args ...any) {
	f.why = fmt.Sprint(args...)
	panic(failed{})
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// failure returns the failure of a test that runs do, or "".
func failure(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	f := &failing{TB: t}
	func() {
		defer func() {
			if x := recover(); x != nil && x != any(failed{}) {
				panic(x)
			}
		}()
		do(f)
	}()
	return f.why
}

// TestKubebuilder starts with the directory config/crd of a kubebuilder project. It has definitions below bases, and beside them a
// kustomization, its configuration, and patches of definitions. The kustomization does not name one of the patches.
func TestKubebuilder(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.CRDs("testdata/kubebuilder"))
	s.Apply(`{apiVersion: example.org/v1, kind: Widget, metadata: {name: web}, spec: {color: red}}`)
	why := failure(t, func(tb testing.TB) { apitest.Start(tb, apitest.CRDs("testdata/kubebuilder/patches")) })
	if want := "testdata/kubebuilder/patches contains no CustomResourceDefinition"; why != want {
		t.Errorf("a folder of patches: %s, want %s", why, want)
	}
}

// TestWrongFiles checks that errors name the file: for invalid YAML, for a refused definition, and for an unknown kind.
func TestWrongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"torn.yaml":    {"a: [", "torn.yaml:1:"},
		"refused.yaml": {crd("plural: Widgets"), "refused.yaml:2: CustomResourceDefinition widgets.example.org: "},
		"unknown.yaml": {"\n{apiVersion: example.org/v1, kind: Gadget, metadata: {name: a}}", "unknown.yaml:2: Gadget a: example.org/v1 Gadget is not served"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		why := failure(t, func(tb testing.TB) { apitest.Start(tb, apitest.Files(file)) })
		if want := filepath.Join(dir, c.want); !strings.HasPrefix(why, want) {
			t.Errorf("%s: the test fails with %q, want %q in front", name, why, want)
		}
	}
}

// crd returns a definition of widgets with more in its names.
func crd(more string) string {
	return "# a comment\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org}, spec: {" +
		"group: example.org, scope: Namespaced, names: {kind: Widget, " + more + "}, versions: [{name: v1, served: true, storage: true, " +
		"schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, maximum: 3}}}}}}}]}}"
}

// TestApplyRefused checks that Apply fails with the server's text.
func TestApplyRefused(t *testing.T) {
	t.Parallel()
	widgets := apitest.YAML(crd("plural: widgets, singular: widget, listKind: WidgetList"))
	for object, want := range map[string]string{
		`{apiVersion: example.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 4}}`: `Widget a: 422 Unprocessable Entity: Widget.example.org "a" is ` +
			`invalid: spec.size: Invalid value: 4: spec.size in body should be less than or equal to 3`,
		`{apiVersion: example.org/v1, kind: Widget, metadata: {name: a}, spec: {color: red}}`: `Widget a: 500 Internal Server Error: failed to create ` +
			`typed patch object (/a; example.org/v1, Kind=Widget): .spec.color: field not declared in schema`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: none}}`: `ConfigMap a: 404 Not Found: namespaces "none" not found`,
	} {
		if why := failure(t, func(tb testing.TB) { apitest.Start(tb, widgets).Apply(object) }); why != want {
			t.Errorf("%s fails with\n%s\nwant\n%s", object, why, want)
		}
	}
}
