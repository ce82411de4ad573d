package cmd_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/layers"
)

// table is the dependency policy of this module.
var table = []layers.Layer{
	{"internal/wording", "", "", ""},
	{"internal/notice", "", "", "golang.org/x/term"},
	{"internal/secret", "internal/wording", "value fieldpath schema/form typed merge managedfields ownership internal/door internal/yaml", ""},
	{"internal/selector", "internal/wording internal/secret", "value fieldpath merge", ""},
	{"internal/jobs", "", "", ""},
	{"internal/manifest",
		"internal/wording internal/notice internal/secret internal/jobs",
		"value fieldpath schema typed merge managedfields ownership internal/door internal/folder internal/yaml internal/jsontext internal/work",
		""},
	{"internal/kustomize", "internal/secret internal/manifest", "", "sigs.k8s.io/kustomize/api sigs.k8s.io/kustomize/kyaml"},
	{"internal/krm", "", "", "sigs.k8s.io/kustomize/kyaml"},
	{"internal/helm", "", "", ""},
	{"internal/download", "internal/manifest", "", ""},
	{"internal/archive", "internal/manifest", "", ""},
	{"internal/selection", "internal/wording internal/manifest", "value schema schema/builtin", "sigs.k8s.io/kustomize/kyaml"},
	{"internal/connect", "internal/selection", "schema/builtin internal/build kube/cluster", "k8s.io/apimachinery k8s.io/client-go/rest k8s.io/client-go/tools/clientcmd"},
	{"internal/testobjects", "internal/notice internal/secret internal/manifest", "typed merge managedfields schema/builtin", ""},
	{"internal/types",
		"internal/wording internal/notice internal/secret internal/manifest",
		"value fieldpath schema schema/form typed merge managedfields ownership schema/openapi schema/structural schema/builtin internal/door internal/slab internal/build internal/custom internal/yaml",
		""},
	{"internal/validation", "internal/secret internal/types", "value fieldpath schema schema/builtin schema/structural server/api server/kinds server/kinds/walk server/structural/keywords server/structural/scale", "k8s.io/apimachinery/pkg/util/validation/field k8s.io/apimachinery/pkg/version"},
	{"internal/checkpipe", "internal/validation", "value schema", "k8s.io/apimachinery/pkg/util/validation/field"},
	{"internal/checks", "internal/validation",
		"value schema server/api server/catalog server/catalog/builtin server/catalog/crd server/registry/webhooks server/structural/rules",
		"k8s.io/apimachinery/pkg/util/validation/field"},
	{"internal/schemafile",
		"internal/wording internal/notice internal/secret internal/manifest internal/types",
		"value schema schema/openapi schema/builtin internal/yaml",
		""},
	{"internal/dryrun",
		"internal/wording internal/notice internal/secret internal/selector internal/jobs internal/manifest internal/types",
		"value fieldpath schema schema/form typed merge managedfields ownership internal/custom internal/door internal/yaml",
		""},
	{"internal/storytest",
		"internal/notice internal/secret internal/manifest internal/types internal/validation internal/dryrun",
		"value merge managedfields internal/yaml",
		"github.com/rogpeppe/go-internal/diff golang.org/x/tools/txtar"},
	{"internal/finding",
		"internal/wording internal/notice internal/secret internal/manifest internal/types",
		"value fieldpath schema typed merge managedfields ownership schema/openapi internal/door",
		""},
	{"internal/entries",
		"internal/notice internal/selector internal/manifest internal/types",
		"value fieldpath schema typed managedfields internal/door",
		""},
	{"internal/policytest",
		"internal/notice internal/secret internal/manifest internal/finding",
		"value internal/yaml",
		""},
	{"internal/judge",
		"internal/jobs internal/notice internal/manifest internal/secret internal/types internal/finding internal/validation",
		"value fieldpath schema/builtin server server/kinds/walk server/structural/keywords",
		"k8s.io/apimachinery"},
	{"internal/blame",
		"internal/notice internal/secret internal/manifest internal/types",
		"value fieldpath merge ownership internal/yaml",
		""},
	{"internal/explain",
		"internal/notice internal/secret internal/selector internal/manifest internal/types internal/entries internal/blame",
		"value fieldpath schema managedfields internal/door",
		""},
	{"internal/plan",
		"internal/notice internal/secret internal/manifest internal/types internal/dryrun",
		"value fieldpath schema merge managedfields ownership",
		""},
	{"internal/upgrade",
		"internal/notice internal/secret internal/manifest internal/types internal/dryrun",
		"value fieldpath schema merge managedfields",
		""},
	{"internal/report",
		"internal/wording internal/notice internal/secret internal/manifest internal/types internal/schemafile internal/dryrun internal/finding internal/entries internal/blame internal/explain internal/plan internal/upgrade",
		"fieldpath schema typed merge managedfields ownership internal/door",
		"github.com/rogpeppe/go-internal/diff"},
	{"internal/history",
		"internal/wording internal/notice internal/secret internal/manifest internal/types internal/dryrun internal/report",
		"value fieldpath schema merge managedfields ownership internal/mergepatch",
		"golang.org/x/tools/txtar"},
	{"internal/page", "", "", ""},
	{"internal/playground",
		"internal/wording internal/notice internal/secret internal/manifest internal/types internal/dryrun internal/blame internal/plan internal/report internal/history",
		"value fieldpath managedfields internal/yaml",
		""},
	{"internal/playground/examples", "internal/secret", "", "golang.org/x/tools/txtar"},
	{"internal/cli",
		"internal/wording internal/notice internal/secret internal/selector internal/connect internal/jobs internal/selection internal/manifest internal/kustomize internal/download internal/archive internal/types internal/validation internal/checkpipe internal/schemafile internal/dryrun internal/finding internal/entries internal/blame internal/explain internal/plan internal/upgrade internal/report internal/page internal/history internal/policytest internal/krm internal/helm",
		"value fieldpath schema schema/builtin typed merge managedfields ownership internal/build internal/yaml kube/cluster kube/inventory",
		"github.com/spf13/cobra github.com/spf13/pflag k8s.io/apimachinery"},
	{"internal/manual", "internal/cli", "internal/build", "github.com/spf13/cobra"},
	{"deed", "internal/cli", "", ""},
	{"deed-validate", "internal/cli internal/judge internal/checks", "", ""},
}

func TestImports(t *testing.T) { layers.Check(t, layers.Root+"/cmd", table) }

// yamlImporters lists the packages of the command that import a YAML library: our own, the models of kube-openapi, to which the command
// passes only JSON, and libraries of Kubernetes: for metadata, which the command does not call, and for the kubeconfig. See docs/decisions/0017.
// kustomize is left out, because it reads and writes its own files.
var yamlImporters = []string{
	layers.Root + "/internal/yaml gopkg.in/yaml.v3",
	"github.com/go-openapi/swag/yamlutils go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/compiler go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/jsonschema go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/openapiv2 go.yaml.in/yaml/v3",
	"github.com/google/gnostic-models/openapiv3 go.yaml.in/yaml/v3",
	"k8s.io/apimachinery/pkg/runtime/serializer/json sigs.k8s.io/yaml",
	"k8s.io/apimachinery/pkg/util/yaml sigs.k8s.io/yaml",
	"k8s.io/kube-openapi/pkg/util/proto go.yaml.in/yaml/v2",
	"k8s.io/kube-openapi/pkg/util/proto go.yaml.in/yaml/v3",
	"sigs.k8s.io/structured-merge-diff/v6/value go.yaml.in/yaml/v2",
}

// TestYAMLLibraries checks which packages of the command import which YAML library.
func TestYAMLLibraries(t *testing.T) {
	const each = `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", each, "./deed").Output()
	if err != nil {
		t.Fatal(err)
	}
	isKustomize := regexp.MustCompile(`^sigs\.k8s\.io/(kustomize/.*|yaml)$`)
	isYAML := regexp.MustCompile(`^(gopkg\.in/yaml\.v\d|go\.yaml\.in/yaml/v\d|sigs\.k8s\.io/yaml|.*/go-yaml)(/|$)`)
	var found []string
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) == 2 && isYAML.MatchString(words[1]) && !isKustomize.MatchString(words[0]) {
			found = append(found, strings.Join(words, " "))
		}
	}
	slices.Sort(found)
	want := slices.Sorted(slices.Values(yamlImporters))
	if !slices.Equal(found, want) {
		t.Errorf("these import a YAML library:\n%s\nwant:\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
}
