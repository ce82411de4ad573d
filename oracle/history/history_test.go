package history

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/deed-project/deed/oracle/kinds"
	"github.com/deed-project/deed/oracle/peer"
)

var update = flag.Bool("update", false, "record the histories again")

const (
	manifests = "../../testdata/manifests"
	recorded  = "../../testdata/histories.jsonl.gz"
)

// play plays kind's history on the reference. structs selects the form of its objects.
func play(t *testing.T, kind Kind, structs bool) []Record {
	t.Helper()
	return playOn(t, kind, structs, false)
}

// playOn is play on the reference, or on deed's replacement of it.
func playOn(t *testing.T, kind Kind, structs, dropIn bool) []Record {
	t.Helper()
	config := peer.Config{GVK: kind.GVK, DropIn: dropIn}
	if structs {
		src, ok := kinds.Of(kind.GVK)
		if !ok {
			t.Fatalf("no built-in kinds in the group of %v", kind.GVK)
		}
		config.Scheme = src.Scheme
	}
	p, err := peer.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	synctest.Test(t, func(t *testing.T) {
		records, err = Play(p, kind)
	})
	if err != nil {
		t.Errorf("%s: %v", kind.Name, err)
	}
	return records
}

func load(t *testing.T) []Kind {
	t.Helper()
	all, err := Load(manifests)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 32 {
		t.Fatalf("%s has %d kinds, want 32 or more", manifests, len(all))
	}
	return all
}

// TestRecordingsAreCurrent checks the recordings with which tests outside of this module check deed.
func TestRecordingsAreCurrent(t *testing.T) {
	var want []Recording
	for _, kind := range load(t) {
		gvk := kind.GVK
		want = append(want, Recording{kind.Name, gvk.Group, gvk.Version, gvk.Kind, play(t, kind, false)})
	}
	if *update {
		packed, err := Pack(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(recorded, packed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(packed)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%s is stale, run this test with -update: it has %d kinds, want %d", recorded, len(got), len(want))
	}
	for i := range want {
		if diff := cmp.Diff(text(t, want[i]), text(t, got[i])); diff != "" {
			t.Errorf("%s is stale, run this test with -update (-reference +recorded):\n%s", recorded, diff)
		}
	}
}

func text(t *testing.T, r Recording) string {
	t.Helper()
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestManifestsOverlap checks that the manifests overlap. Without that the histories would prove little.
func TestManifestsOverlap(t *testing.T) {
	for _, kind := range load(t) {
		records := play(t, kind, false)
		conflicts, shared, changed := 0, 0, false
		for _, r := range records {
			if r.Status != nil {
				conflicts++
			}
			if r.Step == "join" && r.Object != nil {
				shared = sharedLeaves(t, r.Entries)
			}
			changed = changed || r.Step == "change" && r.Object != nil && drops(t, kind.A, kind.A2)
		}
		if conflicts == 0 {
			t.Errorf("%s: no request conflicts", kind.Name)
		}
		if shared == 0 {
			t.Errorf("%s: alpha and beta share no field", kind.Name)
		}
		if !changed {
			t.Errorf("%s: alpha's second configuration drops nothing", kind.Name)
		}
	}
}

// sharedLeaves counts the leaves that several entries own.
func sharedLeaves(t *testing.T, entries []byte) int {
	t.Helper()
	owners := map[string]int{}
	for _, set := range sets(t, entries) {
		set.Leaves().Iterate(func(p fieldpath.Path) { owners[p.String()]++ })
	}
	shared := 0
	for _, n := range owners {
		if n > 1 {
			shared++
		}
	}
	return shared
}

func sets(t *testing.T, entries []byte) []*fieldpath.Set {
	t.Helper()
	var decoded []metav1.ManagedFieldsEntry
	if err := json.Unmarshal(entries, &decoded); err != nil {
		t.Fatal(err)
	}
	var out []*fieldpath.Set
	for _, e := range decoded {
		set := &fieldpath.Set{}
		if err := set.FromJSON(e.FieldsV1.GetRawReader()); err != nil {
			t.Fatal(err)
		}
		out = append(out, set)
	}
	return out
}

// drops reports whether the second configuration lacks a scalar of the first.
func drops(t *testing.T, first, second []byte) bool {
	t.Helper()
	had, has := scalars(t, first), scalars(t, second)
	return slices.ContainsFunc(had, func(s string) bool { return !slices.Contains(has, s) })
}

// scalars lists the paths of all scalars in a JSON text, list positions included.
func scalars(t *testing.T, text []byte) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"/"+name, member)
			}
		case []any:
			for i, item := range v {
				walk(fmt.Sprint(path, "/", i), item)
			}
		default:
			out = append(out, path)
		}
	}
	walk("", v)
	return out
}

// TestCausesFollowTheMessage checks that the causes of a conflict follow its message line by line, in any order of the reference.
func TestCausesFollowTheMessage(t *testing.T) {
	several := 0
	for _, kind := range load(t) {
		for _, r := range play(t, kind, false) {
			if r.Status == nil {
				continue
			}
			var status metav1.Status
			if err := json.Unmarshal(r.Status, &status); err != nil {
				t.Fatal(err)
			}
			causes := status.Details.Causes
			if len(causes) > 1 {
				several++
			}
			if got, want := messageOf(causes), status.Message; got != want {
				t.Errorf("%s, %s: the causes tell\n%s\nthe message is\n%s", kind.Name, r.Step, got, want)
			}
		}
	}
	if several == 0 {
		t.Error("no history has a conflict with several causes")
	}
}

// messageOf builds the message of a conflict from its causes.
func messageOf(causes []metav1.StatusCause) string {
	if len(causes) == 1 {
		return fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Apply failed with %d conflicts:", len(causes))
	for i, cause := range causes {
		if i == 0 || causes[i-1].Message != cause.Message {
			sep := "\n"
			if i == 0 {
				sep = " "
			}
			b.WriteString(sep + strings.Replace(cause.Message, "conflict ", "conflicts ", 1) + ":")
		}
		b.WriteString("\n- " + cause.Field)
	}
	return b.String()
}

// TestStructsAreCreatedAlike compares objects in Go structs with unstructured ones. A struct prints some fields that were never set, and
// drops some zero values. So the test compares only the requests of the first step, which begin without an object.
func TestStructsAreCreatedAlike(t *testing.T) {
	for _, kind := range load(t) {
		loose, structs := play(t, kind, false), play(t, kind, true)
		if len(structs) < 8 {
			t.Errorf("%s: the history with Go structs has %d requests", kind.Name, len(structs))
			continue
		}
		if !bytes.Equal(loose[0].Entries, structs[0].Entries) {
			t.Errorf("%s: entries after the first apply\n%s\nwith Go structs\n%s", kind.Name, loose[0].Entries, structs[0].Entries)
		}
	}
}
