package gitops

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	argo    = "github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	flux    = "github.com/fluxcd/pkg/ssa"
	envtest = "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestArgo runs the tests of Argo CD's comparisons.
func TestArgo(t *testing.T) {
	suite{
		pkg: argo,
		edits: []edit{
			{pkg: argo, file: "deed.go", by: "argo/deed.go"},
			{pkg: argo, file: "diff.go", old: "func structuredMergeDiff(", new: "func theirStructuredMergeDiff("},
			{pkg: argo, file: "diff.go", old: "func ThreeWayDiff(", new: "func theirThreeWayDiff("},
			{pkg: argo, file: "diff.go", old: "mfEntry.FieldsV1.Raw", new: "[]byte(mfEntry.FieldsV1.GetRawString())"}, // Kubernetes v1.37
		},
		least: 86,
	}.run(t)
}

// server are the edits that start deed's server in the process.
var server = []edit{
	{pkg: envtest, file: "deed.go", by: "envtest/deed.go"},
	{pkg: envtest, file: "server.go", old: "func (te *Environment) Start(", new: "func (te *Environment) theirStart("},
	{pkg: envtest, file: "server.go", old: "func (te *Environment) Stop(", new: "func (te *Environment) theirStop("},
}

// TestFlux runs the tests of Flux's comparisons.
func TestFlux(t *testing.T) {
	suite{
		pkg: flux + "/jsondiff",
		edits: append([]edit{
			{pkg: flux + "/jsondiff", file: "deed.go", by: "flux/jsondiff.go"},
			{pkg: flux + "/jsondiff", file: "unstructured.go", old: "c.Patch(ctx, dryRunObj, client.Apply, patchOpts...)",
				new: "predict(ctx, existingObj, dryRunObj, o.FieldManager)"},
			{pkg: flux + "/jsondiff", file: "unstructured.go", old: "ApplyPatchToUnstructured(dryRunObj, patch)", new: "withoutIgnored(dryRunObj, o.IgnorePaths)"},
			{pkg: flux + "/jsondiff", file: "unstructured.go", old: "ApplyPatchToUnstructured(filteredObj, patch)", new: "withoutIgnored(filteredObj, o.IgnorePaths)"},
			{pkg: flux + "/jsondiff", file: "unstructured.go", old: "patch := GenerateRemovePatch(o.IgnorePaths...)", new: ""},
			{pkg: flux + "/jsondiff", file: "unstructured.go", old: "patchOpts := []client.PatchOption", new: "_ = []client.PatchOption"},
		}, server...),
		least: 60,
	}.run(t)
}

// TestUpgrade runs client-go's tests of csaupgrade against kube/csa.
func TestUpgrade(t *testing.T) {
	const pkg = "k8s.io/client-go/util/csaupgrade"
	suite{
		pkg:   pkg,
		edits: []edit{{pkg: pkg, file: "upgrade.go", by: "csaupgrade/upgrade.go"}, {pkg: pkg, file: "options.go", by: "csaupgrade/options.go"}},
		least: 19,
	}.run(t)
}

// tracker are the edits that put deed's tracker in the place of client-go's.
var tracker = []edit{
	{pkg: clientTesting, file: "deed.go", by: "tracker/deed.go"},
	{pkg: clientTesting, file: "fixture.go", old: "func NewFieldManagedObjectTracker(", new: "func theirNewFieldManagedObjectTracker("},
}

const (
	clientTesting = "k8s.io/client-go/testing"
	fakeClientset = "k8s.io/client-go/kubernetes/fake"
	fakeClient    = "sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestTrackers runs the tests of client-go's and controller-runtime's fakes, with their tracker and with deed's.
func TestTrackers(t *testing.T) {
	for _, side := range []struct {
		name  string
		edits []edit
	}{{"theirs", nil}, {"deed", tracker}} {
		for pkg, least := range map[string]int{clientTesting: 22, fakeClientset: 2, fakeClient: 1} {
			t.Run(side.name+"/"+path.Base(path.Dir(pkg)), func(t *testing.T) {
				suite{pkg: pkg, edits: side.edits, least: least}.run(t)
			})
		}
	}
}

// TestDropIn runs apimachinery's tests of its field manager against kube.FieldManager.
func TestDropIn(t *testing.T) {
	const pkg, support = "k8s.io/apimachinery/pkg/util/managedfields", "k8s.io/apimachinery/pkg/util/managedfields/internal/testing"
	edits := []edit{
		{pkg: support, file: "deed.go", by: "managedfields/deed.go"},
		{pkg: support, file: "testfieldmanager.go", old: "fieldManager *internal.FieldManager", new: "fieldManager fieldManager"},
		{pkg: support, file: "testfieldmanager.go", old: "\tf, err := internal.NewStructuredMergeManager(",
			new: "\tif chainFieldManager == nil {\n\t\treturn newDeed(typeConverter, gvk, subresource)\n\t}\n\tf, err := internal.NewStructuredMergeManager("},
	}
	// The tests read the schemas of the repository that apimachinery is a part of.
	out, err := command("list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	schemas := func(pkg, up string) edit {
		return edit{pkg: pkg, file: "fieldmanager_test.go", old: `strings.Repeat(".."+string(filepath.Separator), ` + up + `)`,
			new: strconv.Quote(strings.TrimSpace(string(out))) + ` + strings.Repeat("", 0)`}
	}
	suite{pkg: pkg, edits: append(slices.Clone(edits), schemas(pkg, "7")), least: 30}.run(t)
	suite{pkg: pkg + "/internal", edits: append(slices.Clone(edits), schemas(pkg+"/internal", "8")), least: 30}.run(t)
}
