package difftest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-project/deed/internal/testing/gen"
)

var update = flag.Bool("update", false, "write what the engines answer into the scripts")

// scripts is the directory of recorded histories, one per file:
//
//	Any text, which says what the history is about.
//	-- schema --
//	{"types":[…]}
//	-- versions --
//	v1 root
//	v2 root.v2
//	rename ["a","b"]         the member a of the root is called b in all versions but the first
//	exclude v1 ["f:status"]  a field that is reset in v1, or
//	include v1 ["f:spec","*"] a prefix of those that are not
//	-- write --
//	apply m1/Apply v1 force
//	{"the":"object"}
//	----
//	What the engines answer. Where they differ, the answer of deed, a line of four dashes, and that of the reference.
const scripts = "../../../testdata/script/engine"

// TestScripts replays the scripts in both engines. A script whose name begins with divergence must end in a difference. No other script may
// show one.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			comment, h, err := parseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			got, differ := record(t, comment, h)
			if *update && got != string(text) {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(text), got); diff != "" && !*update {
				t.Errorf("other answers (-recorded +now); -update records them:\n%s", diff)
			}
			if differ != strings.HasPrefix(name, "divergence") {
				t.Errorf("the engines differ: %v", differ)
			}
		})
	}
}

// record replays h. It returns the script, and whether the last answers differ.
func record(t *testing.T, comment string, h *gen.History) (script string, differ bool) {
	w, err := newWorld(h.Schema)
	if err != nil {
		t.Fatal(err)
	}
	deed, smd := w.start(h.Filters)
	var b strings.Builder
	printHead(&b, comment, h)
	for _, write := range h.Writes {
		w.retired = write.Retired
		got, want := deed.step(write), smd.step(write)
		printWrite(&b, write)
		b.WriteString("----\n" + got.String())
		if differ = got.String() != want.String(); differ {
			b.WriteString("----\n" + want.String())
		}
	}
	return b.String(), differ
}

// save records a history that shows a difference, and returns the name of its script.
func save(t *testing.T, name string, h *gen.History) string {
	file := filepath.Join(scripts, name+".txtar")
	script, _ := record(t, "A random history in which the engines differed.\n", h)
	if err := os.MkdirAll(scripts, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
