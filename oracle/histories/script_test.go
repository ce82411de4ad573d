package histories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/deed-project/deed/internal/testing/seeds"
)

// lost has the divergences by script, with the managed fields in the reference's last answer. docs/reference-faults.md gives the reasons.
var lost = map[string]string{"metadata-pruned-with-managed-fields": "null"}

// TestScripts plays scripts: shrunk histories on which the engines once differed. They agree on those in testdata/script and differ on
// those in testdata/divergence.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		folder, name := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(filepath.Join(folder, name), func(t *testing.T) {
			s := readScript(t, file)
			synctest.Test(t, func(t *testing.T) {
				diff, err := replay(s)
				switch {
				case err != nil:
					t.Fatal(err)
				case folder == "script" && diff != nil:
					t.Error(diff)
				case folder == "divergence" && diff == nil:
					t.Error("the reference no longer differs: take the divergence out of docs/reference-faults.md")
				case folder == "divergence" && (diff.Part != "entries" || diff.Reference != lost[name] || diff.Deed == diff.Reference):
					t.Errorf("the divergence is another one: %v", diff)
				}
			})
		})
	}
}

func readScript(t *testing.T, file string) Script {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseScript(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScriptsAreReadAsTheyAreWritten checks that ParseScript inverts Format.
func TestScriptsAreReadAsTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := newWorlds(t)
		for n := range seeds.Each(t, 9) {
			s, diff, err := ws.play(n)
			if err != nil || diff != nil {
				t.Fatal(err, diff)
			}
			text := s.Format()
			read, err := ParseScript(text)
			if err != nil {
				t.Fatal(err)
			}
			if again := read.Format(); string(again) != string(text) {
				t.Errorf("history %d:\n%s\nread and written again:\n%s", n, text, again)
			}
			if len(read.Ops) != len(s.Ops) || read.Ops[0].Manager != s.Ops[0].Manager || read.Ops[0].Endpoint != s.Ops[0].Endpoint {
				t.Errorf("history %d: read %+v", n, read.Ops[0])
			}
		}
	})
}
