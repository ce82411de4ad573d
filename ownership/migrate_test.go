package ownership_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
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
		{"nobody", entry("eve", "Update", "v1", "1", a), `eve Update v1 1: .a`, nil},
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
			entries := kindtest.Entries(t, `[`+test.entries+`]`)
			before := kindtest.Show(t, entries)
			got, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, test.from, "ssa", "")
			if err != nil {
				t.Fatal(err)
			}
			if kindtest.Show(t, got) != kindtest.Lines(test.want) {
				t.Errorf("got\n%s", kindtest.Show(t, got))
			}
			if kindtest.Show(t, entries) != before {
				t.Errorf("the entries given became\n%s", kindtest.Show(t, entries))
			}
		})
	}
}

func TestMigrateSubresource(t *testing.T) {
	entries := kindtest.Entries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	entries[0].Subresource = "status"
	if got, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, []string{"csa"}, "ssa", ""); !errors.Is(err, ownership.ErrNoManager) || got != nil {
		t.Errorf("got\n%s%v", kindtest.Show(t, got), err)
	}
	if got, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, []string{"csa"}, "ssa", "status"); err != nil || kindtest.Show(t, got) != "ssa Apply v1/status 1: .a\n" {
		t.Errorf("got\n%s%v", kindtest.Show(t, got), err)
	}
}

func TestMigrateUnreadable(t *testing.T) {
	entries := kindtest.Entries(t, `[`+entry("eve", "Update", "v1", "1", `{"bad":{}}`)+","+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	if got, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, []string{"csa"}, "ssa", ""); err != nil || got[1].Manager != "ssa" {
		t.Errorf("an entry that need not be read: %v", err)
	}
	var e *managedfields.EntryError
	if _, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, []string{"eve"}, "ssa", ""); !errors.As(err, &e) || e.Index != 0 || e.Manager != "eve" {
		t.Errorf("an entry that must be read: %v", err)
	}
	entries = kindtest.Entries(t, `[`+entry("ssa", "Apply", "v1", "1", `{}`)+","+entry("eve", "Update", "v1", "1", `{"bad":{}}`)+`]`)
	if _, err := ownership.Migrate(managedfields.Object{Entries: entries}, nil, []string{"eve"}, "ssa", ""); !errors.As(err, &e) || e.Index != 1 {
		t.Errorf("an entry that must be added: %v", err)
	}
	if entries[0].Manager != "ssa" || entries[0].FieldsV1.String() != "{}" {
		t.Errorf("the entries given were changed: %v", entries[0])
	}
}

func TestFindOwners(t *testing.T) {
	entries := kindtest.Entries(t, `[`+entry("x", "Update", "v1", "1", `{"f:a":{},"f:b":{}}`)+","+entry("y", "Update", "v1", "1", `{"f:a":{}}`)+","+
		entry("z", "Apply", "v1", "1", `{"f:a":{},"f:b":{}}`)+","+entry("bad", "Update", "v1", "1", `{"bad":{}}`)+`]`)
	both := fieldpath.SetOf(kindtest.Path(t, ".a"), kindtest.Path(t, ".b"))
	if got := kindtest.Show(t, owning.FindOwners(entries, merge.Update, both)); got != "x Update v1 1: .a .b\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestEntriesPatch(t *testing.T) {
	o := kindtest.New(t, `"metadata":{"name":"one","resourceVersion":"7"}`)
	o.Entries = kindtest.Entries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:a":{}}`)+`]`)
	migrated, err := ownership.Migrate(o, nil, []string{"csa"}, "ssa", "")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"op":"replace","path":"/metadata/managedFields","value":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1",` +
		`"fieldsV1":{"f:a":{}},"manager":"ssa","operation":"Apply","time":"2026-01-01T00:01:00Z"}]},` +
		`{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`
	if got, guarded, err := ownership.EntriesPatch(o, migrated); err != nil || !guarded || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if got, guarded, err := ownership.EntriesPatch(o, nil); err != nil || !guarded || string(got) != `[{"op":"replace","path":"/metadata/managedFields","value":[]},`+
		`{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]` {
		t.Errorf("no entries: got %s, %v", got, err)
	}
	o.Content = o.Content.With("metadata", kindtest.Parse(t, `{"name":"one"}`))
	if got, guarded, err := ownership.EntriesPatch(o, nil); err != nil || guarded || string(got) != `[{"op":"replace","path":"/metadata/managedFields","value":[]},`+
		`{"op":"replace","path":"/metadata/resourceVersion","value":""}]` {
		t.Errorf("without a resource version: got %s, guarded %t, %v", got, guarded, err)
	}
	o.Content = o.Content.With("metadata", kindtest.Parse(t, `{"name":"one","resourceVersion":"7"}`))
	respelled := slices.Clone(o.Entries)
	respelled[0].FieldsV1 = managedfields.FieldsOf(` { "f:a" : { } }`)
	if got, guarded, err := ownership.EntriesPatch(o, respelled); err != nil || !guarded || got != nil {
		t.Errorf("the same entries: got %s, %v", got, err)
	}
	respelled[0].FieldsV1 = managedfields.FieldsOf(`{`)
	if _, _, err := ownership.EntriesPatch(o, respelled); err == nil {
		t.Error("a set that is no JSON text gives a patch")
	}
}

const record = `"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"one\"},\"spec\":{\"replicas\":1,\"args\":[\"-a\"]}}"}`

func TestLostOwners(t *testing.T) {
	lost := kindtest.New(t, `"metadata":{"name":"one","labels":{"others":"1"},`+record+`},"spec":{"replicas":1}`)
	if !ownership.HasLostOwners(lost) || ownership.HasLostOwners(kindtest.New(t, "")) {
		t.Error("the state is not recognized")
	}
	entries, err := ownership.EntriesOfLastApplied(lost, kindtest.Type, "ann")
	if err != nil || kindtest.Show(t, entries) != "ann Apply v1 -: .spec.replicas\n" {
		t.Fatalf("got\n%s%v", kindtest.Show(t, entries), err)
	}
	lost.Entries = entries
	if ownership.HasLostOwners(lost) {
		t.Error("an object with entries has lost its owners")
	}
	after := kindtest.Apply(t, kindtest.Manager(nil), lost, "ann", `"metadata":{"name":"one"}`)
	const want = `"metadata":{"name":"one","labels":{"others":"1"},` + record + `}`
	if got := after.Content; !got.Equal(kindtest.New(t, want).Content) {
		t.Errorf("the next apply leaves %v", got)
	}
}

// TestLastAppliedOfDuplicates makes entries for an object that holds an item twice, as stored objects may: its
// owners can be lost, too.
func TestLastAppliedOfDuplicates(t *testing.T) {
	o := kindtest.New(t, `"metadata":{"name":"one","finalizers":["a","a"],`+record+`},"spec":{"replicas":1}`)
	if entries, err := ownership.EntriesOfLastApplied(o, kindtest.Type, "ann"); err != nil || kindtest.Show(t, entries) != "ann Apply v1 -: .spec.replicas\n" {
		t.Errorf("got\n%s%v", kindtest.Show(t, entries), err)
	}
}

func TestLastAppliedRefuses(t *testing.T) {
	for name, o := range map[string]managedfields.Object{
		"no record":        kindtest.New(t, ""),
		"not of the type":  kindtest.New(t, `"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"x\":1}"}}`),
		"an unknown field": kindtest.New(t, `"metadata":{`+record+`},"x":1`),
	} {
		if _, err := ownership.EntriesOfLastApplied(o, kindtest.Type, "ann"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// csaObject is what client-side apply by kubectl and an autoscaler leave behind.
func csaObject(t *testing.T) managedfields.Object {
	t.Helper()
	m := kindtest.Manager(nil)
	live := kindtest.Update(t, m, managedfields.Object{}, "kubectl-client-side-apply",
		`"metadata":{"name":"one","uid":"u",`+record+`},"spec":{"replicas":1,"args":["-a"],"quota":{"cpu":"1"}}`)
	return kindtest.Apply(t, m, live, "hpa", `"spec":{"quota":{"cpu":"1"}}`)
}

func TestPlanMigration(t *testing.T) {
	live := csaObject(t)
	other := live.Entries[0]
	other.Manager, other.Operation, other.APIVersion = "kubectl-client-side-apply", merge.Update, "example.com/v2"
	other.FieldsV1 = managedfields.FieldsOf(`{"f:spec":{"f:args":{}}}`)
	live.Entries = append(live.Entries, other)
	from := ownership.ClientSideAppliers(live.Entries)
	if !slices.Equal(from, []string{"kubectl-client-side-apply"}) {
		t.Fatalf("from %q", from)
	}
	plan, err := ownership.PlanMigration(kindtest.Manager(nil), live, kindtest.New(t, `"spec":{"args":["-b"]}`), from, "ann")
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
		"=.spec.quota.cpu": {kindtest.Applier("hpa")},
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

// What the updater owned in another version becomes the applier's, too; in one that is gone it is nobody's, as in every write.
func TestPlanMigrationAcrossVersions(t *testing.T) {
	for version, want := range map[string]string{"v2": "-.spec.args -.spec.replicas", "v9": "-.spec.replicas"} {
		live := kindtest.New(t, `"spec":{"replicas":1,"args":["-a"]}`)
		live.Entries = kindtest.Entries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:spec":{"f:replicas":{}}}`)+","+
			entry("csa", "Update", version, "2", `{"f:spec":{"f:args":{}}}`)+`]`)
		plan, err := ownership.PlanMigration(kindtest.Manager(nil), live, kindtest.New(t, `"spec":{"quota":{"cpu":"1"}}`), []string{"csa"}, "ann")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range plan.Removed {
			got = append(got, "-"+l.Path.Text())
		}
		for _, l := range plan.Kept {
			got = append(got, "="+l.Path.Text())
			if l.Owners != nil {
				t.Errorf("%v is %v's", l.Path, l.Owners)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v", version, got)
		}
	}
}

// Who owns what is kept is found in other versions too, by the names that fields have there.
func TestLeftoversHaveOwnersOfOtherVersions(t *testing.T) {
	m := kindtest.Manager(func(c *managedfields.Config) {
		c.Types = map[string]*schema.Type{"example.com/v1": kindtest.Type, "example.com/v2": kindtest.Type}
		c.Converter = sizeConverter{}
	})
	live := kindtest.New(t, `"spec":{"replicas":3,"args":["-a"]}`)
	live.Entries = kindtest.Entries(t, `[`+entry("csa", "Update", "v1", "1", `{"f:spec":{"f:args":{},"f:replicas":{}}}`)+","+
		entry("eve", "Update", "v2", "2", `{"f:spec":{"f:quota":{"f:size":{}}}}`)+","+
		entry("fay", "Update", "v2", "2", `{"f:spec":{"f:replicas":{}}}`)+`]`) // no field of v2
	plan, err := ownership.PlanMigration(m, live, kindtest.New(t, `"spec":{"quota":{"cpu":"1"}}`), []string{"csa"}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Removed) != 1 || plan.Removed[0].Path.Text() != ".spec.args" || plan.Removed[0].Owners != nil {
		t.Errorf("removed: %v", plan.Removed)
	}
	if len(plan.Kept) != 1 || plan.Kept[0].Path.Text() != ".spec.replicas" ||
		len(plan.Kept[0].Owners) != 1 || plan.Kept[0].Owners[0].Name != "eve" {
		t.Errorf("kept: %v", plan.Kept)
	}
}

// Across versions that differ, fields go by the names that the receiver's version has for them.
func TestMigrateAcrossVersions(t *testing.T) {
	versions := &ownership.Versions{
		Types: map[string]*schema.Type{"example.com/v1": kindtest.Type, "example.com/v2": kindtest.Type}, Converter: sizeConverter{},
	}
	o := kindtest.New(t, `"spec":{"replicas":3,"args":["-a"]}`)
	o.Entries = kindtest.Entries(t, `[`+entry("ssa", "Apply", "v1", "1", `{"f:spec":{"f:args":{}}}`)+","+
		entry("csa", "Update", "v2", "2", `{"f:spec":{"f:quota":{"f:size":{}}}}`)+`]`)
	got, err := ownership.Migrate(o, versions, []string{"csa", "nobody"}, "ssa", "")
	if want := "ssa Apply v1 1: .spec.args .spec.replicas\n"; err != nil || kindtest.Show(t, got) != want {
		t.Errorf("got %s, error %v", kindtest.Show(t, got), err)
	}
	got, err = ownership.Migrate(o, nil, []string{"csa"}, "ssa", "")
	if want := "ssa Apply v1 1: .spec.args\n"; err != nil || kindtest.Show(t, got) != want {
		t.Errorf("without versions: got %s, error %v", kindtest.Show(t, got), err)
	}
	_, err = ownership.Migrate(o, versions, []string{"nobody", "ssa"}, "new", "")
	if !errors.Is(err, ownership.ErrNoManager) ||
		err.Error() != `no such manager: nobody, ssa; there is "csa" using example.com/v2` {
		t.Errorf("from nobody: error %v", err)
	}
	if got, err := ownership.Migrate(o, versions, nil, "new", ""); err != nil || len(got) != 2 {
		t.Errorf("without names: %d entries, error %v", len(got), err)
	}
}

// What a plan says is removed is not in the object after the apply, and what it says is kept is.
func TestPlanMigrationIsTrue(t *testing.T) {
	removed, kept := 0, 0
	kindtest.Histories(t, func(t *testing.T, r *rand.Rand, o managedfields.Object) {
		m := kindtest.Manager(nil)
		config := kindtest.New(t, kindtest.RandomConfig(r))
		plan, err := ownership.PlanMigration(m, o, config, []string{"bob", "eve"}, "ann")
		if errors.Is(err, ownership.ErrNoManager) {
			return
		}
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
		seq, err := ownership.Owners(after, kindtest.Type, nil)
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
		sent, err := ownership.ApplyAsKubectl(kindtest.Manager(nil), csaObject(t), kindtest.New(t, `"spec":{"args":["-b"]}`), test.manager, true)
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
		if !last.Content.Get("spec", "replicas").IsAbsent() {
			t.Errorf("%s: replicas are not pruned", test.manager)
		}
		if got := !last.Content.Get("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration").IsAbsent(); got != test.record {
			t.Errorf("%s: the record is there: %v", test.manager, got)
		}
		again, err := ownership.ApplyAsKubectl(kindtest.Manager(nil), last, kindtest.New(t, `"spec":{"args":["-b"]}`), test.manager, false)
		if err != nil || len(again) != 1 {
			t.Errorf("%s: sends %d requests the second time, %v", test.manager, len(again), err)
		}
	}
}

func TestApplyAsKubectlConflicts(t *testing.T) {
	var conflicts merge.Conflicts
	_, err := ownership.ApplyAsKubectl(kindtest.Manager(nil), csaObject(t), kindtest.New(t, `"spec":{"quota":{"cpu":"2"}}`), "kubectl", false)
	if !errors.As(err, &conflicts) {
		t.Errorf("got %v", err)
	}
}
