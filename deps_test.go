package deed_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/deed-project/deed/"

// layers is the dependency policy: each package with what it may import, of this module and of others. Standard packages
// are free to all. Packages that are not listed may be imported by none of the listed ones.
var layers = []struct {
	pkg        string
	module     string // space-separated, without the module's path
	thirdParty string // space-separated prefixes
}{
	{"internal/work", "", ""},
	{"internal/trail", "", ""},
	{"internal/slab", "", ""},
	{"internal/door", "", ""},
	{"internal/jsontext", "internal/trail", ""},
	{"value", "internal/door internal/jsontext internal/slab internal/trail internal/work", ""},
	{"value/structs", "value internal/door internal/jsontext internal/slab internal/trail internal/work", ""},
	{"fieldpath", "value internal/door internal/jsontext internal/slab internal/work", ""},
	{"schema", "value internal/door", ""},
	{"internal/beside", "value", ""},
	{"schema/structural", "value internal/beside internal/door", ""},
	{"typed", "value fieldpath schema internal/door internal/slab internal/work", ""},
	{"merge", "internal/door internal/jsontext internal/slab value fieldpath schema typed", ""},
	{"managedfields", "internal/door internal/jsontext internal/slab value fieldpath schema typed merge", ""},
	{"ownership", "value fieldpath schema typed merge managedfields internal/door internal/slab internal/work", ""},
	{"schema/openapi", "value schema internal/door", "k8s.io/kube-openapi github.com/google/gnostic-models"}, // kube-openapi takes v2 documents as gnostic has them
	{"schema/form", "internal/jsontext value fieldpath", ""},
	{"schema/builtin", "value fieldpath schema schema/form merge managedfields internal/door", ""},
	{"internal/yaml", "internal/jsontext internal/work value", "gopkg.in/yaml.v3"},
	{"internal/mergepatch", "value", ""},
	{"internal/recording", "value internal/mergepatch", ""},
	{"internal/gen", "value fieldpath schema typed merge internal/door", ""},
	{"internal/model", "value fieldpath schema typed merge internal/door", ""},
	{"internal/kindtest", "value fieldpath schema merge managedfields", ""},
	{"internal/custom", "value fieldpath schema schema/structural merge managedfields", ""},
	{"internal/wording", "value", ""},
	{"internal/notice", "", "golang.org/x/term"},
	{"internal/selector", "value fieldpath merge internal/wording", ""},
	{"internal/jobs", "", ""},
	{"internal/manifest",
		"value fieldpath schema typed merge managedfields ownership internal/door internal/yaml " +
			"internal/jsontext internal/wording internal/notice internal/jobs",
		""},
	{"internal/testobjects", "typed merge managedfields schema/builtin internal/notice internal/manifest", ""},
	{"internal/types",
		"value fieldpath schema schema/form typed merge managedfields schema/openapi schema/structural schema/builtin " +
			"internal/door internal/slab internal/custom internal/yaml internal/wording internal/notice internal/manifest",
		""},
	{"internal/schemafile",
		"value schema schema/openapi schema/builtin internal/yaml internal/wording " +
			"internal/notice internal/manifest internal/types",
		""},
	{"internal/dryrun",
		"value fieldpath schema schema/form schema/builtin typed merge managedfields ownership internal/door internal/yaml internal/wording " +
			"internal/notice internal/selector internal/jobs internal/manifest internal/types",
		""},
	{"internal/finding",
		"value fieldpath schema typed managedfields ownership schema/openapi internal/door internal/wording internal/notice " +
			"internal/manifest internal/types",
		""},
	{"internal/secret", "value fieldpath schema managedfields internal/wording internal/manifest", ""},
	{"internal/entries",
		"value fieldpath schema typed managedfields internal/door internal/notice internal/selector internal/manifest internal/types", ""},
	{"internal/blame",
		"value fieldpath merge ownership internal/yaml internal/notice internal/manifest internal/types internal/secret", ""},
	{"internal/explain",
		"value fieldpath schema managedfields internal/door internal/notice internal/selector internal/manifest internal/types " +
			"internal/entries internal/blame",
		""},
	{"internal/plan",
		"value fieldpath schema merge managedfields ownership internal/notice internal/manifest internal/types internal/dryrun", ""},
	{"internal/report",
		"value fieldpath schema typed merge managedfields ownership internal/door internal/yaml " +
			"internal/wording internal/notice internal/manifest internal/types internal/secret " +
			"internal/schemafile internal/dryrun internal/finding internal/entries internal/blame internal/explain internal/plan",
		"github.com/rogpeppe/go-internal/diff"},
	{"internal/history",
		"value fieldpath schema merge managedfields ownership internal/yaml internal/wording " +
			"internal/notice internal/manifest internal/types internal/secret internal/dryrun internal/report " +
			"internal/mergepatch",
		"golang.org/x/tools/txtar"},
	{"internal/cli",
		"fieldpath schema typed merge managedfields ownership internal/yaml internal/wording " +
			"internal/notice internal/selector internal/manifest internal/types internal/schemafile " +
			"internal/dryrun internal/finding internal/entries internal/blame internal/explain internal/plan internal/report " +
			"internal/history",
		"github.com/spf13/cobra github.com/spf13/pflag"},
	{"cmd/deed", "internal/cli", ""},
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], module)
		seen[pkg] = true
		i := slices.IndexFunc(layers, func(l struct{ pkg, module, thirdParty string }) bool { return l.pkg == pkg })
		if i < 0 {
			if len(words) > 1 {
				t.Errorf("package %s is not in the table of layers", pkg)
			}
			continue
		}
		for _, imported := range words[1:] {
			if !mayImport(imported, layers[i].module, layers[i].thirdParty) {
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

func mayImport(pkg, ours, thirdParty string) bool {
	if own, ok := strings.CutPrefix(pkg, module); ok {
		return slices.Contains(strings.Fields(ours), own)
	}
	if first, _, _ := strings.Cut(pkg, "/"); !strings.Contains(first, ".") {
		return true // of the standard library
	}
	return slices.ContainsFunc(strings.Fields(thirdParty), func(p string) bool {
		return pkg == p || strings.HasPrefix(pkg, p+"/")
	})
}

// TestUnsafe keeps unsafe in package value, which packs values into two words, and in value/structs, which reads Go structs.
func TestUnsafe(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if pkg := strings.TrimPrefix(words[0], module); pkg == "value" || pkg == "value/structs" {
			continue
		}
		if slices.Contains(words, "unsafe") {
			t.Errorf("package %s imports unsafe", words[0])
		}
	}
}

// TestCoreIsStandard shows that a program that imports package ownership, and so every core package, compiles nothing
// but this module and the standard library.
func TestCoreIsStandard(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{if not .Standard}}{{.ImportPath}}{{end}}`, "./ownership", "./schema/builtin").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if pkg := strings.TrimSpace(line); !strings.HasPrefix(pkg, module) {
			t.Errorf("the core depends on %s", pkg)
		}
	}
}

// yamlImporters are the packages of the command that import a YAML library: ours, and those of kube-openapi's models, which
// give it nothing to read but JSON. See docs/decisions/0017.
var yamlImporters = []string{
	module + "internal/yaml gopkg.in/yaml.v3",
	"github.com/go-openapi/swag/yamlutils go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/compiler go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/jsonschema go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/openapiv2 go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/openapiv3 go.yaml.in/yaml/v3",
	"k8s.io/kube-openapi/pkg/util/proto go.yaml.in/yaml/v2",
	"k8s.io/kube-openapi/pkg/util/proto go.yaml.in/yaml/v3",
}

// TestYAMLLibraries shows which packages of the command import which YAML library.
func TestYAMLLibraries(t *testing.T) {
	const each = `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", each, "./cmd/deed").Output()
	if err != nil {
		t.Fatal(err)
	}
	isYAML := regexp.MustCompile(`^(gopkg\.in/yaml\.v\d|go\.yaml\.in/yaml/v\d|sigs\.k8s\.io/yaml|.*/go-yaml)(/|$)`)
	var found []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 2 && isYAML.MatchString(words[1]) {
			found = append(found, strings.Join(words, " "))
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(yamlImporters))
	if !slices.Equal(found, want) {
		t.Errorf("these import a YAML library:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}
