package managedfields_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// entry is an entry in short: its time is minute, unless that is empty.
func entry(manager, operation, version, minute, fields string) string {
	at := ""
	if minute != "" {
		at = `"time":"2026-01-01T00:0` + minute + `:00Z",`
	}
	return `{"manager":"` + manager + `","operation":"` + operation + `","apiVersion":"example.com/` + version + `",` + at +
		`"fieldsType":"FieldsV1","fieldsV1":` + fields + `}`
}

func TestMigrate(t *testing.T) {
	const a, b, c = `{"f:a":{}}`, `{"f:b":{}}`, `{"f:c":{}}`
	for _, test := range []struct {
		name, entries, want string
		from                []string
	}{
		{"nobody", entry("eve", "Update", "v1", "1", a), `eve Update v1 1: .a`, []string{"csa"}},
		{"the updater becomes the applier", entry("csa", "Update", "v1", "1", a), `ssa Apply v1 1: .a`, []string{"csa"}},
		{"the applier is there already", entry("ssa", "Apply", "v1", "1", a) + "," + entry("csa", "Update", "v1", "2", b), `ssa Apply v1 1: .a .b`, []string{"csa"}},
		{"other versions are discarded", entry("csa", "Update", "v1", "1", a) + "," + entry("csa", "Update", "v2", "2", b), `ssa Apply v1 1: .a`, []string{"csa"}},
		{"all of them, if the applier's is another", entry("ssa", "Apply", "v3", "1", c) + "," + entry("csa", "Update", "v1", "2", b), `ssa Apply v3 1: .c`, []string{"csa"}},
		{"several names", entry("x", "Update", "v1", "1", a) + "," + entry("y", "Update", "v1", "2", b) + "," + entry("z", "Update", "v1", "3", c),
			`ssa Apply v1 1: .a .b
			z Update v1 3: .c`, []string{"y", "x", "x"}},
		{"the first in order of names gives the place", entry("y", "Update", "v1", "1", a) + "," + entry("x", "Update", "v1", "2", b),
			`ssa Apply v1 2: .a .b`, []string{"y", "x"}},
		{"others stay", entry("csa", "Apply", "v1", "1", a) + "," + entry("csa", "Update", "v1", "2", b) + "," + entry("eve", "Update", "v1", "3", c),
			`csa Apply v1 1: .a
			ssa Apply v1 2: .b
			eve Update v1 3: .c`, []string{"csa"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			entries := parseEntries(t, `[`+test.entries+`]`)
			before := show(t, entries)
			got, err := managedfields.Migrate(entries, test.from, "ssa", "")
			if err != nil {
				t.Fatal(err)
			}
			if show(t, got) != lines(test.want) {
				t.Errorf("got\n%s", show(t, got))
			}
			if show(t, entries) != before {
				t.Errorf("the entries given became\n%s", show(t, entries))
			}
		})
	}
}

func TestMigrateSubresource(t *testing.T) {
	entries := parseEntries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	entries[0].Subresource = "status"
	if got, err := managedfields.Migrate(entries, []string{"csa"}, "ssa", ""); err != nil || show(t, got) != show(t, entries) {
		t.Errorf("got\n%s%v", show(t, got), err)
	}
	if got, err := managedfields.Migrate(entries, []string{"csa"}, "ssa", "status"); err != nil || show(t, got) != "ssa Apply v1/status 1: .a\n" {
		t.Errorf("got\n%s%v", show(t, got), err)
	}
}

func TestMigrateUnreadable(t *testing.T) {
	entries := parseEntries(t, `[`+entry("eve", "Update", "v1", "1", `{"bad":{}}`)+","+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	if got, err := managedfields.Migrate(entries, []string{"csa"}, "ssa", ""); err != nil || got[1].Manager != "ssa" {
		t.Errorf("an entry that need not be read: %v", err)
	}
	var e *managedfields.EntryError
	if _, err := managedfields.Migrate(entries, []string{"eve"}, "ssa", ""); !errors.As(err, &e) || e.Index != 0 || e.Manager != "eve" {
		t.Errorf("an entry that must be read: %v", err)
	}
	entries = parseEntries(t, `[`+entry("ssa", "Apply", "v1", "1", `{}`)+","+entry("eve", "Update", "v1", "1", `{"bad":{}}`)+`]`)
	if _, err := managedfields.Migrate(entries, []string{"eve"}, "ssa", ""); !errors.As(err, &e) || e.Index != 1 {
		t.Errorf("an entry that must be added: %v", err)
	}
	if entries[0].Manager != "ssa" || entries[0].FieldsV1.String() != "{}" {
		t.Errorf("the entries given were changed: %v", entries[0])
	}
}

func TestFindOwners(t *testing.T) {
	entries := parseEntries(t, `[`+entry("x", "Update", "v1", "1", `{"f:a":{},"f:b":{}}`)+","+entry("y", "Update", "v1", "1", `{"f:a":{}}`)+","+
		entry("z", "Apply", "v1", "1", `{"f:a":{},"f:b":{}}`)+","+entry("bad", "Update", "v1", "1", `{"bad":{}}`)+`]`)
	both := fieldpath.SetOf(parsePath(t, ".a"), parsePath(t, ".b"))
	if got := show(t, managedfields.FindOwners(entries, merge.Update, both)); got != "x Update v1 1: .a .b\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestEntriesPatch(t *testing.T) {
	o := newThing(t, `"metadata":{"name":"one","resourceVersion":"7"}`)
	o.Entries = parseEntries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	migrated, err := managedfields.Migrate(o.Entries, []string{"csa"}, "ssa", "")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"op":"replace","path":"/metadata/managedFields","value":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:a":{}},"manager":"ssa","operation":"Apply","time":"2026-01-01T00:01:00Z"}]},` +
		`{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
	if got, err := managedfields.EntriesPatch(o, migrated); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := managedfields.EntriesPatch(o, nil); err != nil || string(got) != `[{"op":"replace","path":"/metadata/managedFields","value":[]},`+
		`{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]` {
		t.Errorf("no entries: got %s, %v", got, err)
	}
	respelled := slices.Clone(o.Entries)
	respelled[0].FieldsV1 = managedfields.FieldsFromJSON(` { "f:a" : { } }`)
	if got, err := managedfields.EntriesPatch(o, respelled); err != nil || got != nil {
		t.Errorf("the same entries: got %s, %v", got, err)
	}
	respelled[0].FieldsV1 = managedfields.FieldsFromJSON(`{`)
	if _, err := managedfields.EntriesPatch(o, respelled); err == nil {
		t.Error("a set that is no JSON text gives a patch")
	}
}

const record = `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"one\"},\"spec\":{\"replicas\":1,\"args\":[\"-a\"]}}"}`

func TestLostOwners(t *testing.T) {
	lost := newThing(t, `"metadata":{"name":"one","labels":{"others":"1"},`+record+`},"spec":{"replicas":1}`)
	if !managedfields.HasLostOwners(lost) || managedfields.HasLostOwners(newThing(t, "")) {
		t.Error("the state is not recognized")
	}
	entries, err := managedfields.EntriesOfLastApplied(lost, thing, "ann")
	if err != nil || show(t, entries) != "ann Apply v1 -: .spec.replicas\n" {
		t.Fatalf("got\n%s%v", show(t, entries), err)
	}
	lost.Entries = entries
	if managedfields.HasLostOwners(lost) {
		t.Error("an object with entries has lost its owners")
	}
	after := apply(t, newManager(nil), lost, "ann", `"metadata":{"name":"one"}`)
	const want = `"metadata":{"name":"one","labels":{"others":"1"},` + record + `}`
	if got := after.Content; !got.Equal(newThing(t, want).Content) {
		t.Errorf("the next apply leaves %v", got)
	}
}

func TestLastAppliedRefuses(t *testing.T) {
	for name, o := range map[string]managedfields.Object{
		"no record":        newThing(t, ""),
		"not of the type":  newThing(t, `"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":1}"}}`),
		"an unknown field": newThing(t, `"metadata":{`+record+`},"x":1`),
	} {
		if _, err := managedfields.EntriesOfLastApplied(o, thing, "ann"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// csaObject is what client-side apply by kubectl and an autoscaler leave behind.
func csaObject(t *testing.T) managedfields.Object {
	t.Helper()
	m := newManager(nil)
	live := update(t, m, managedfields.Object{}, "kubectl-client-side-apply",
		`"metadata":{"name":"one","uid":"u",`+record+`},"spec":{"replicas":1,"args":["-a"],"quota":{"cpu":"1"}}`)
	return apply(t, m, live, "hpa", `"spec":{"quota":{"cpu":"1"}}`)
}

func TestPlanMigration(t *testing.T) {
	live := csaObject(t)
	other := live.Entries[0]
	other.Manager, other.Operation, other.APIVersion = "kubectl-client-side-apply", merge.Update, "example.com/v2"
	other.FieldsV1 = managedfields.FieldsFromJSON(`{"f:spec":{"f:args":{}}}`)
	live.Entries = append(live.Entries, other)
	from := managedfields.ClientSideAppliers(live.Entries)
	if !slices.Equal(from, []string{"kubectl-client-side-apply"}) {
		t.Fatalf("from %q", from)
	}
	plan, err := newManager(nil).PlanMigration(live, newThing(t, `"spec":{"args":["-b"]}`), from, "ann")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]merge.Manager{}
	for _, l := range plan.Removed {
		got["-"+l.Path.Text()] = l.Owners
	}
	for _, l := range plan.Kept {
		got["="+l.Path.Text()] = l.Owners
	}
	want := map[string][]merge.Manager{
		`-.metadata.annotations."kubectl.kubernetes.io/last-applied-configuration"`: nil,
		"-.spec.replicas":  nil,
		"=.spec.quota.cpu": {applier("hpa")},
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for path, owners := range want {
		if !slices.Equal(got[path], owners) {
			t.Errorf("%s: got %v", path, got[path])
		}
	}
	if plan.Patch == nil || plan.LostOwner || plan.Conflicts != nil {
		t.Errorf("patch %s, lost %v, conflicts %v", plan.Patch, plan.LostOwner, plan.Conflicts)
	}
}

// What the discarded entry of another version owned alone stays for ever.
func TestPlanMigrationDiscards(t *testing.T) {
	live := newThing(t, `"spec":{"replicas":1,"args":["-a"]}`)
	live.Entries = parseEntries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+","+entry("csa", "Update", "v2", "2", `{"f:spec":{"f:args":{}}}`)+`]`)
	plan, err := newManager(nil).PlanMigration(live, newThing(t, `"spec":{"quota":{"cpu":"1"}}`), []string{"csa"}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Removed) != 1 || plan.Removed[0].Path.Text() != ".spec.replicas" {
		t.Errorf("removed %v", plan.Removed)
	}
	if len(plan.Kept) != 1 || plan.Kept[0].Path.Text() != ".spec.args" || plan.Kept[0].Owners != nil {
		t.Errorf("kept %v", plan.Kept)
	}
}

// What a plan says is removed is not in the object after the apply, and what it says is kept is.
func TestPlanMigrationIsTrue(t *testing.T) {
	removed, kept := 0, 0
	histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		m := newManager(nil)
		config := newThing(t, randomConfig(r))
		plan, err := m.PlanMigration(o, config, []string{"bob", "eve"}, "ann")
		if err != nil {
			t.Error(err)
			return
		}
		after, err := m.Apply(plan.Object, config, "ann", true)
		if err != nil {
			t.Error(err)
			return
		}
		left := map[string]bool{}
		seq, err := managedfields.Owners(after, thing, nil)
		if err != nil {
			t.Error(err)
		}
		for part := range seq {
			left[part.Path.Text()] = true
		}
		for _, l := range plan.Removed {
			if left[l.Path.Text()] {
				t.Errorf("%v is not removed", l.Path)
			}
			removed++
		}
		for _, l := range plan.Kept {
			if !left[l.Path.Text()] {
				t.Errorf("%v is not kept", l.Path)
			}
			kept++
		}
	})
	if removed < 50 || kept < 50 {
		t.Errorf("only %d removed and %d kept", removed, kept)
	}
}

func TestApplyAsKubectl(t *testing.T) {
	for _, test := range []struct {
		manager string
		want    []string
		record  bool // is still there
	}{
		{"kubectl", []string{"apply", "save record", "migrate", "apply again"}, true},
		{"ann", []string{"apply", "migrate", "apply again"}, false},
	} {
		sent, err := newManager(nil).ApplyAsKubectl(csaObject(t), newThing(t, `"spec":{"args":["-b"]}`), test.manager, true)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range sent {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, test.want) {
			t.Errorf("%s: sent %q", test.manager, names)
		}
		last := sent[len(sent)-1].Object
		if !last.Content.At("spec", "replicas").IsAbsent() {
			t.Errorf("%s: replicas are not pruned", test.manager)
		}
		if got := !last.Content.At("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration").IsAbsent(); got != test.record {
			t.Errorf("%s: the record is there: %v", test.manager, got)
		}
		again, err := newManager(nil).ApplyAsKubectl(last, newThing(t, `"spec":{"args":["-b"]}`), test.manager, false)
		if err != nil || len(again) != 1 {
			t.Errorf("%s: sends %d requests the second time, %v", test.manager, len(again), err)
		}
	}
}

func TestApplyAsKubectlConflicts(t *testing.T) {
	var conflicts merge.Conflicts
	_, err := newManager(nil).ApplyAsKubectl(csaObject(t), newThing(t, `"spec":{"quota":{"cpu":"2"}}`), "kubectl", false)
	if !errors.As(err, &conflicts) {
		t.Errorf("got %v", err)
	}
}
