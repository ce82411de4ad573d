package builtin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// No object that a real server stored has findings or is refused, and no update that it took.
func TestFindingsOfStoredObjects(t *testing.T) {
	objects := 0
	for _, file := range serverFiles(t) {
		for _, history := range readServerHistories(t, file) {
			for i, step := range history.Steps {
				if step.Code >= 300 || strings.HasPrefix(step.Op, "scale") || step.Op == "delete" {
					continue
				}
				object := step.Response
				live := value.Value{}
				if step.Exists() {
					live = step.Live
				}
				k, _ := builtin.Lookup(schema.ParseGVK(step.APIVersion, history.Kind))
				for _, f := range k.Findings(live, object) {
					t.Errorf("%s of %s, step %d: %v: %s", history.Name, file, i, f.Path, f.Reason)
				}
				for _, r := range k.Refusals(live, object, subresourceOf(step.Path)) {
					t.Errorf("%s of %s, step %d: %v: %v", history.Name, file, i, r.Path, r)
				}
				objects++
			}
		}
	}
	if objects == 0 {
		t.Error("no objects")
	}
}

func TestFindings(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, live, object, want string }{
		{"apps/v1", "Deployment", `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`, `{"spec":{"selector":{"matchLabels":{"a":"c"}}}}`,
			".spec.selector: Invalid value: field is immutable"},
		{"v1", "ConfigMap", `{"data":{"a":"b"}}`, `{"data":{"a":"c"}}`, ""},
		{"v1", "ConfigMap", `{"data":{"a":"b"},"immutable":true}`, `{"data":{"a":"c"},"immutable":true}`,
			".data: Forbidden: field is immutable when `immutable` is set"},
		{"v1", "Pod", ``, `{"spec":{"restartPolicy":"Sometimes","containers":[{"name":""}]}}`,
			".spec.containers[0].name: Required value\n" +
				`.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"`},
		{"storagemigration.k8s.io/v1", "StorageVersionMigration", ``, `{"spec":{"resource":{"group":"","resource":"pods"}}}`, ""},
		{"rbac.authorization.k8s.io/v1", "RoleBinding", ``, `{"roleRef":{"name":""}}`, ".roleRef.name: Required value"},
	} {
		live := value.Value{}
		if test.live != "" {
			live = parsed(t, []byte(test.live))
		}
		k, ok := builtin.Lookup(schema.ParseGVK(test.apiVersion, test.kind))
		if !ok {
			t.Fatalf("no %s", test.kind)
		}
		var got []string
		for _, f := range k.Findings(live, parsed(t, []byte(test.object))) {
			got = append(got, f.Path.String()+": "+f.Reason)
		}
		slices.Sort(got)
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s %s: %q, want %q", test.kind, test.object, got, test.want)
		}
	}
}

// An apply converts numbers as the server does, which an update refuses; what cannot be converted fails with the server's words.
func TestNumbers(t *testing.T) {
	gvk := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	config, err := builtin.Config(gvk)
	if err != nil {
		t.Fatal(err)
	}
	m, err := managedfields.New(config)
	if err != nil {
		t.Fatal(err)
	}
	object := func(replicas string) managedfields.Object {
		o, err := managedfields.ParseObject([]byte(
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","namespace":"d"},"spec":{"replicas":` + replicas + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	out, err := m.Apply(managedfields.Object{}, object("99999999999"), "a", false)
	if n := out.Content.Get("spec", "replicas").Int(); err != nil || n != 1215752191 {
		t.Errorf("an apply of 99999999999 is %d, %v", n, err)
	}
	for _, test := range []struct {
		what string
		do   func() (managedfields.Object, error)
		want string
	}{
		{"an apply of 1.5", func() (managedfields.Object, error) {
			return m.Apply(managedfields.Object{}, object("1.5"), "a", false)
		}, "failed to convert new object (d/x; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to " +
			"apps/v1, Kind=Deployment: cannot convert float64 to int32"},
		{"an update to 99999999999", func() (managedfields.Object, error) {
			return m.Update(managedfields.Object{}, object("99999999999"), "a")
		}, `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 99999999999 into Go struct field ` +
			"DeploymentSpec.spec.replicas of type int32"},
	} {
		_, err := test.do()
		var at *form.Error
		if err == nil || err.Error() != test.want || !errors.As(err, &at) || at.Path.String() != ".spec.replicas" {
			t.Errorf("%s: %v, want %s", test.what, err, test.want)
		}
	}
}

// subresourceOf returns the subresource that a path ends with; "" if it is none.
func subresourceOf(path string) string {
	for _, name := range []string{"status", "scale"} {
		if strings.HasSuffix(path, "/"+name) {
			return name
		}
	}
	return ""
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, live, object, want string }{
		{"coordination.k8s.io/v1", "Lease", ``, `{"spec":{"leaseDurationSeconds":0,"leaseTransitions":-1}}`,
			".spec.leaseDurationSeconds: Invalid value: must be greater than 0\n" +
				".spec.leaseTransitions: Invalid value: must be greater than or equal to 0"},
		{"flowcontrol.apiserver.k8s.io/v1", "FlowSchema", ``,
			`{"spec":{"priorityLevelConfiguration":{"name":"p"},"rules":[{"resourceRules":[{"verbs":[]}]},{"resourceRules":[{"verbs":["get"]},{"verbs":[]}]}]}}`,
			".spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value\n" +
				".spec.rules[1].resourceRules[1].verbs: Required value: verbs must contain at least one value"},
	} {
		live := value.Value{}
		if test.live != "" {
			live = parsed(t, []byte(test.live))
		}
		k, ok := builtin.Lookup(schema.ParseGVK(test.apiVersion, test.kind))
		if !ok {
			t.Fatalf("no %s", test.kind)
		}
		var got []string
		for _, r := range k.Refusals(live, parsed(t, []byte(test.object)), "") {
			got = append(got, r.Path.String()+": "+r.String())
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", test.kind, test.object, strings.Join(got, "\n"), test.want)
		}
	}
}

// TestRefusalsGivePathsAway asks for refusals and findings of items in items, and for the replicas of all versions.
func TestRefusalsGivePathsAway(t *testing.T) {
	rule := `{"resourceRules":[{"verbs":[]},{"verbs":[]},{"verbs":[]}]}`
	v, err := value.Parse([]byte(`{"spec":{"priorityLevelConfiguration":{"name":"p"},"rules":[` + rule + `,` + rule + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	flows, _ := builtin.Lookup(schema.GVK{Group: "flowcontrol.apiserver.k8s.io", Version: "v1", Kind: "FlowSchema"})
	deployments, _ := builtin.Lookup(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	pathtest.Belong(t, 6, func() any { return flows.Refusals(value.Value{}, v, "") })
	pathtest.Belong(t, 2, func() any { return deployments.Replicas() })
}
