package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/value"
)

// twoVersions defines a kind with two versions that differ only in their names.
const twoVersions = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.acme.io}
spec:
  group: acme.io
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: &s {openAPIV3Schema: &o {type: object, properties: {spec: {type: object, properties: {
      size: {type: integer}, color: {type: string}, free: {type: object, additionalProperties: {type: integer}},
      tags: {type: array, x-kubernetes-list-type: set, items: {type: string}},
      whole: {type: array, x-kubernetes-list-type: atomic, items: {type: string}},
      parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name],
        properties: {name: {type: string}, count: {type: integer}}}}}}}}}}
  - {name: v2, served: true, storage: false, schema: *s}
`

// planJSON is the part of the output of deed plan that the test reads.
type planJSON struct {
	Objects []struct {
		Conflicts int
		NoOp      bool
		Decisions []struct {
			Path, Outcome string
			Result        json.RawMessage
			After         []struct{ Manager, Operation, APIVersion string }
		}
	}
}

// TestPlanAgreesWithApply has several managers write in two versions. It compares deed plan with deed apply: the exit code, the fields in
// conflict, and the value and owners of each field.
func TestPlanAgreesWithApply(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(epochVariable, "1767225600")
	r := seeds.Rand(t)
	crd, live, config := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "live.json"), filepath.Join(dir, "config.json")
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(crd, twoVersions)
	conflicts, between := 0, 0
	for range 20 {
		stored := ""
		for range 8 {
			version := []string{"v1", "v2"}[r.IntN(2)]
			manager := []string{"a", "b", "c"}[r.IntN(3)]
			write(config, randomThing(r, version))
			args := []string{"-f", config, "--crd", crd, "--field-manager", manager}
			if stored != "" {
				write(live, stored)
				args = append(args, "--live", live)
			}
			plan := agree(t, args, &stored, r.IntN(3) == 0)
			if conflicts += plan; plan > 0 && strings.Contains(stored, `"acme.io/v1"`) && strings.Contains(stored, `"acme.io/v2"`) {
				between++
			}
		}
	}
	if conflicts < 25 || between < 10 {
		t.Errorf("only %d conflicts, %d times with owners of both versions", conflicts, between)
	}
}

func randomThing(r *rand.Rand, version string) string {
	spec := map[string]any{}
	for _, add := range []func(){
		func() { spec["size"] = r.IntN(3) },
		func() { spec["color"] = fmt.Sprint("c", r.IntN(3)) },
		func() { spec["free"] = map[string]any{fmt.Sprint("k", r.IntN(3)): r.IntN(2)} },
		func() { spec["tags"] = []string{fmt.Sprint("t", r.IntN(4))} },
		func() { spec["whole"] = []string{fmt.Sprint("w", r.IntN(3)), "x"} },
		func() {
			spec["parts"] = []any{map[string]any{"name": fmt.Sprint("p", r.IntN(2)), "count": r.IntN(2)}, map[string]any{"name": "q"}}
		},
	} {
		if r.IntN(2) == 0 {
			add()
		}
	}
	object := map[string]any{"apiVersion": "acme.io/" + version, "kind": "Thing", "metadata": map[string]any{"name": "x"}, "spec": spec}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// agree runs apply and plan, and returns the number of fields in conflict. It stores the outcome in stored, unless there are conflicts and
// force is false.
func agree(t *testing.T, args []string, stored *string, force bool) (conflicts int) {
	t.Helper()
	run := func(command string, more ...string) (string, string, int) {
		var out, stderr strings.Builder
		code := Run(slices.Concat([]string{command}, args, more), strings.NewReader(""), &out, &stderr)
		return out.String(), stderr.String(), code
	}
	applied, messages, applyCode := run("apply", "-o", "json")
	planned, errors, planCode := run("plan", "-o", "json")
	var plan planJSON
	if err := json.Unmarshal([]byte(planned), &plan); err != nil || len(plan.Objects) != 1 {
		t.Fatalf("%v\n%s%s", err, planned, errors)
	}
	p := plan.Objects[0]
	if applyCode != planCode || (applyCode == 1) != (p.Conflicts > 0) {
		t.Errorf("apply exits with %d, plan with %d and %d conflicts", applyCode, planCode, p.Conflicts)
	}
	if said := strings.Count(messages, "    wanted: "); said != p.Conflicts {
		t.Errorf("apply reports %d fields in conflict, plan %d\n%s%s", said, p.Conflicts, messages, planned)
	}
	forced, messages, code := run("apply", "-o", "json", "--force-conflicts")
	if code != 0 {
		t.Fatalf("by force: %s", messages)
	}
	outcome, err := managedfields.ParseObject([]byte(forced))
	if err != nil {
		t.Fatal(err)
	}
	wantOutcome(t, p.Decisions, outcome, planned+forced)
	if p.NoOp && forced != *stored {
		t.Errorf("plan says that nothing changes, but of\n%s\nbecomes\n%s", *stored, forced)
	}
	switch {
	case p.Conflicts == 0:
		*stored = applied
	case force:
		*stored = forced
	}
	return p.Conflicts
}

// wantOutcome checks that the decisions agree with the values and the owners in outcome.
func wantOutcome(t *testing.T, decisions []struct {
	Path, Outcome string
	Result        json.RawMessage
	After         []struct{ Manager, Operation, APIVersion string }
}, outcome managedfields.Object, texts string) {
	t.Helper()
	for _, d := range decisions {
		path, err := fieldpath.ParsePath(d.Path)
		if err != nil {
			t.Fatal(err)
		}
		var found value.Value
		if want := string(d.Result); want != "" {
			if found, err = value.Parse([]byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got := at(outcome.Content, path); !got.Equal(found) {
			t.Errorf("%s is %v, plan says %v\n%s", d.Path, got, found, texts)
		}
		var owners, after []string
		for _, e := range outcome.Entries {
			if set, err := e.FieldsV1.Set(); err != nil {
				t.Fatal(err)
			} else if set.Has(path) {
				owners = append(owners, e.Manager)
			}
		}
		for _, m := range d.After {
			if m.Operation != string(merge.Apply) {
				t.Errorf("%s has an owner that did not apply: %v", d.Path, m)
			}
			after = append(after, m.Manager)
		}
		slices.Sort(owners)
		if slices.Sort(after); !slices.Equal(owners, after) {
			t.Errorf("%s is owned by %v, plan says %v\n%s", d.Path, owners, after, texts)
		}
	}
}

// at returns the value at path in v.
func at(v value.Value, path fieldpath.Path) value.Value {
	for _, e := range path {
		switch e.Kind() {
		case fieldpath.KindField:
			v = v.Get(e.Name())
		default:
			var found value.Value
			for item := range v.Items() {
				if e.Kind() == fieldpath.KindItem && item.Equal(e.Value()) ||
					e.Kind() == fieldpath.KindKey && item.Get(e.Fields()[0].Name).Equal(e.Fields()[0].Value) {
					found = item
				}
			}
			v = found
		}
	}
	return v
}

// inScript changes to a directory with the files of a script.
func inScript(t *testing.T, name string) {
	archive, err := txtar.ParseFile(filepath.Join(scripts, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, f := range archive.Files {
		if err := os.WriteFile(f.Name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestValidateAlone checks that deed validate finds the same in a custom resource with the server and without it.
func TestValidateAlone(t *testing.T) {
	inScript(t, "refused_custom.txtar")
	args := []string{"validate", "-f", "wrong.yaml", "-f", "ruled.yaml", "--crd", "crd.yaml", "--crd", "ruled-crd.yaml"}
	var alone, full, errs strings.Builder
	Run(args, strings.NewReader(""), &alone, &errs)
	RunWith(validating, args, strings.NewReader(""), &full, &errs)
	if errs.Len() > 0 {
		t.Fatal(errs.String())
	}
	const unchecked = "\nnot checked: CEL rules, some rules of built-in kinds, admission; a server may refuse more\n"
	found, isTold := strings.CutSuffix(alone.String(), unchecked)
	if !isTold {
		t.Errorf("not ended by %q:\n%s", unchecked, alone.String())
	}
	if !strings.HasPrefix(full.String(), found) || strings.Count(found, "\n") < 9 {
		t.Errorf("without the server:\n%s\nwith it:\n%s", found, full.String())
	}
}

// TestUncheckedAlone checks that all commands that predict a write say once for each kind what they do not check without deed-validate, and
// refuse nothing for it.
func TestUncheckedAlone(t *testing.T) {
	inScript(t, "refused_rules.txtar")
	want := `wrong.yaml:1:1: Disk shop/a (document 1): not checked: the CEL rules of its definition (deed-validate is not installed: it belongs beside deed)
wrong.yaml:11:1: ValidatingAdmissionPolicy p (document 3): not checked: the expressions in CEL (deed-validate is not installed: it belongs beside deed)
wrong.yaml:20:1: CustomResourceDefinition jars.example.org (document 4): not checked: the schemas of the definition (deed-validate is not installed: it belongs beside deed)
`
	for _, verb := range []string{"apply", "update", "plan"} {
		var out, errs strings.Builder
		code := Run([]string{verb, "-f", "wrong.yaml", "--crd", "crd.yaml", "--field-manager", "ci"}, strings.NewReader(""), &out, &errs)
		if code != 0 || errs.String() != want {
			t.Errorf("%s: exit code %d, and\n%s", verb, code, errs.String())
		}
	}
}
