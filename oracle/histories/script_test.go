package histories

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// Each script is a history on which the engines once differed, reduced to what it takes. Those in testdata/script are
// answered alike; those in testdata/divergence are not, and docs/divergences.md says why.
func TestScripts(t *testing.T) {
	for folder, differ := range map[string]bool{"script": false, "divergence": true} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no scripts in %s: %v", folder, err)
		}
		for _, file := range files {
			t.Run(filepath.Join(folder, strings.TrimSuffix(filepath.Base(file), ".txtar")), func(t *testing.T) {
				s := readScript(t, file)
				synctest.Test(t, func(t *testing.T) {
					diff, err := replay(s)
					if err != nil {
						t.Fatal(err)
					}
					if differ && diff == nil {
						t.Error("the reference no longer differs: take the divergence out of docs/divergences.md")
					}
					if !differ && diff != nil {
						t.Error(diff)
					}
				})
			})
		}
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

// A script that is written and read again is the same.
func TestScriptsAreReadAsTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ws := newWorlds(t)
		for n := range uint64(9) {
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
