package deed_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/layers"
)

const module = layers.Root + "/"

// table is the dependency policy of this module.
var table = []layers.Layer{
	{"internal/work", "", "", ""},
	{"internal/slab", "", "", ""},
	{"internal/door", "", "", ""},
	{"internal/build", "", "", ""},
	{"internal/jsontext", "", "", ""},
	{"value", "internal/door internal/jsontext internal/slab internal/work", "", ""},
	{"value/structs", "value internal/door internal/jsontext internal/slab internal/work", "", ""},
	{"fieldpath", "value internal/door internal/jsontext internal/slab internal/work", "", ""},
	{"schema", "value internal/door", "", ""},
	{"internal/beside", "value", "", ""},
	{"schema/structural", "value internal/beside internal/door", "", ""},
	{"typed", "value fieldpath schema internal/door internal/slab internal/work", "", ""},
	{"merge", "internal/door internal/jsontext internal/slab value fieldpath schema typed", "", ""},
	{"managedfields", "internal/door internal/jsontext internal/slab value fieldpath schema typed merge", "", ""},
	{"ownership", "value fieldpath schema typed merge managedfields internal/door internal/slab internal/work", "", ""},
	{"schema/openapi", "value schema internal/door", "", "k8s.io/kube-openapi github.com/google/gnostic-models"}, // kube-openapi takes v2 documents as gnostic has them
	{"schema/form", "internal/jsontext value fieldpath", "", ""},
	{"schema/builtin", "value fieldpath schema schema/form merge managedfields internal/door", "", ""},
	{"internal/yaml", "internal/jsontext internal/work value", "", "gopkg.in/yaml.v3"},
	{"schema/yaml", "schema internal/yaml", "", ""},
	{"internal/folder", "internal/yaml value", "", ""},
	{"internal/mergepatch", "value", "", ""},
	{"internal/testing/recording", "value internal/mergepatch", "", ""},
	{"internal/testing/gen", "value fieldpath schema typed merge internal/door", "", ""},
	{"internal/testing/model", "value fieldpath schema typed merge internal/door", "", ""},
	{"internal/testing/kindtest", "internal/testing/seeds value fieldpath schema merge managedfields", "", ""},
	{"internal/testing/pathtest", "fieldpath", "", ""},
	{"internal/custom", "value fieldpath schema schema/structural merge managedfields", "", ""},
	{"internal/testing/layers", "", "", ""},
	{"internal/testing/seeds", "", "", ""},
	{"internal/testing/race", "", "", ""},
	{"internal/testing/replays", "", "", ""},
	{"web/build", "", "", ""},
}

func TestImports(t *testing.T) { layers.Check(t, layers.Root, table) }

// TestUnsafe keeps unsafe in three packages: value packs values into two words, value/structs reads Go structs, and
// internal/jsontext reads bytes as strings.
func TestUnsafe(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if pkg := strings.TrimPrefix(words[0], module); pkg == "value" || pkg == "value/structs" || pkg == "internal/jsontext" {
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
