package server_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "github.com/deed-project/deed/"
	module = root + "server/"
)

// layers is the dependency policy: each package with what it may import: of this module, of the root module, and of others.
// Standard packages are free to all.
var layers = []struct {
	pkg        string
	module     string // space-separated, without the module's path
	root       string // the same for the root module
	thirdParty string // space-separated prefixes
}{
	{"store", "", "", ""},
	{"store/history", "store", "", ""},
	{"store/memory", "store/history", "", ""},
	{"store/file", "store store/history", "", "go.etcd.io/bbolt"},
	{"store/etcd", "store", "", "go.etcd.io/etcd/api/v3 go.etcd.io/etcd/client go.uber.org/zap google.golang.org/grpc/metadata"},
	{"memo", "", "", ""},
	{"structural/rules", "memo", "value internal/beside", "k8s.io/apiextensions-apiserver k8s.io/apimachinery k8s.io/apiserver k8s.io/kube-openapi github.com/google/cel-go"},
	{"store/storetest", "store", "", "github.com/anishathalye/porcupine"},
	{"api", "", "value value/structs managedfields", "k8s.io/apimachinery"},
	{"catalog", "api", "value fieldpath schema managedfields", "k8s.io/apimachinery k8s.io/api"},
	{"catalog/tables", "catalog", "value value/structs schema schema/builtin", "k8s.io/apimachinery k8s.io/api/autoscaling/v1"},
	{"catalog/validation", "", "value", "k8s.io/apimachinery k8s.io/utils/net github.com/robfig/cron/v3"},
	{"catalog/builtin", "api catalog catalog/tables catalog/validation", "value value/structs fieldpath schema merge managedfields schema/builtin",
		"k8s.io/apimachinery k8s.io/api k8s.io/apiserver/pkg/endpoints/deprecation sigs.k8s.io/json"},
	{"catalog/crd", "api catalog catalog/builtin catalog/tables memo structural/rules",
		"value fieldpath schema managedfields schema/openapi schema/structural internal/custom internal/door",
		"k8s.io/apimachinery k8s.io/apiextensions-apiserver k8s.io/apiserver/pkg/cel/environment k8s.io/kube-openapi"},
	{"catalog/openapi", "catalog", "value", "k8s.io/apimachinery k8s.io/api"},
	{"wire", "api catalog", "value value/structs schema managedfields internal/slab",
		"k8s.io/apimachinery k8s.io/client-go/util/jsonpath sigs.k8s.io/yaml sigs.k8s.io/json github.com/klauspost/compress/flate"},
	{"admission", "", "value managedfields", "k8s.io/apimachinery"},
	{"hookclient", "", "", "k8s.io/apimachinery k8s.io/apiserver/pkg/util/webhook k8s.io/client-go/rest"},
	{"admission/webhook", "admission api hookclient", "value value/structs",
		"k8s.io/api k8s.io/apimachinery k8s.io/apiserver gopkg.in/evanphx/json-patch.v4"},
	{"conversion", "api hookclient", "value", "k8s.io/apiextensions-apiserver k8s.io/apimachinery k8s.io/apiserver/pkg/util/webhook"},
	{"strategic", "", "value", "k8s.io/apimachinery"},
	{"rest", "admission api catalog store strategic wire", "value value/structs schema managedfields internal/beside internal/door internal/jsontext internal/mergepatch",
		"k8s.io/apimachinery sigs.k8s.io/json gopkg.in/evanphx/json-patch.v4"},
	{"transport", "", "internal/slab", ""},
	{".", "admission admission/webhook api catalog catalog/builtin catalog/crd catalog/openapi catalog/tables conversion rest store " +
		"store/memory transport wire",
		"value value/structs schema managedfields",
		"k8s.io/apimachinery k8s.io/api k8s.io/client-go/tools/clientcmd github.com/google/gnostic-models google.golang.org/protobuf " +
			"github.com/prometheus/client_golang golang.org/x/net/websocket"},
	{"manifest", "", "value internal/yaml", ""},
	{"apitest", ". admission manifest memo store store/memory", "value", "k8s.io/client-go/rest"},
	{"cmd/deed-apiserver", ". manifest store store/etcd store/file", "", "github.com/spf13/pflag"},
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := nameOf(words[0])
		seen[pkg] = true
		i := slices.IndexFunc(layers, func(l struct{ pkg, module, root, thirdParty string }) bool { return l.pkg == pkg })
		if i < 0 {
			if len(words) > 1 {
				t.Errorf("package %s is not in the table of layers", pkg)
			}
			continue
		}
		for _, imported := range words[1:] {
			if l := layers[i]; !mayImport(imported, l.module, l.root, l.thirdParty) {
				t.Errorf("package %s must not import %s", pkg, imported)
			}
		}
	}
	for _, l := range layers {
		if !seen[l.pkg] {
			t.Errorf("the table of layers has package %s, which does not exist", l.pkg)
		}
	}
}

// nameOf returns a package of this module as the table has it: "." is the one that is called as the module is.
func nameOf(pkg string) string {
	if pkg == strings.TrimSuffix(module, "/") {
		return "."
	}
	return strings.TrimPrefix(pkg, module)
}

func mayImport(pkg, ours, roots, thirdParty string) bool {
	if pkg+"/" == module || strings.HasPrefix(pkg, module) {
		return slices.Contains(strings.Fields(ours), nameOf(pkg))
	}
	if own, ok := strings.CutPrefix(pkg, root); ok {
		return slices.Contains(strings.Fields(roots), own)
	}
	if first, _, _ := strings.Cut(pkg, "/"); !strings.Contains(first, ".") {
		return true // of the standard library
	}
	return slices.ContainsFunc(strings.Fields(thirdParty), func(p string) bool {
		return pkg == p || strings.HasPrefix(pkg, p+"/")
	})
}
