package gitops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests of other projects, run from the module cache with some of their files replaced. None of their code is in this repository:
// an edit names the text that it replaces.

// suite is the tests of a package.
type suite struct {
	pkg   string
	edits []edit
	args  []string // of go test
	// known are the tests that fail, each with the reason.
	known map[string]string
	least int // the number of tests, with their parts, that pass at least
}

// edit changes the files of a package for a run of tests.
type edit struct {
	pkg  string
	file string // of the package
	// by is a file of testdata that comes instead, or beside if the package has no such file. If it is empty, old is replaced by new.
	by       string
	old, new string
}

// run runs the suite, and reports tests that fail and are not known, known ones that pass, and texts that are not there.
func (s suite) run(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles the packages of another project")
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for i, e := range s.edits {
		path := filepath.Join(dirOf(t, e.pkg), e.file)
		if e.by != "" {
			by, err := filepath.Abs(filepath.Join("testdata", e.by))
			if err != nil {
				t.Fatal(err)
			}
			replace[path] = by
			continue
		}
		from := path
		if replaced := replace[path]; replaced != "" {
			from = replaced
		}
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(e.old)) {
			t.Fatalf("%s has no %q: the adapter is made for another version", path, e.old)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
		if err := os.WriteFile(replace[path], bytes.ReplaceAll(text, []byte(e.old), []byte(e.new)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"test", "-json", "-vet=off", "-count=1", "-overlay", filepath.Join(dir, "overlay.json")}, s.args...)
	s.judge(t, command(append(args, s.pkg)...))
}

// judge compares the outcome of the tests with what is known.
func (s suite) judge(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, runErr := cmd.Output()
	var passed int
	var failed []string
	texts := map[string]string{}
	for line := range bytes.Lines(out) {
		var event struct{ Action, Test, Output string }
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch event.Action {
		case "output", "build-output":
			texts[event.Test] += event.Output
		case "pass":
			if event.Test != "" {
				passed++
			}
		case "fail":
			if event.Test != "" {
				failed = append(failed, event.Test)
			}
		}
	}
	t.Logf("%s: %d tests pass, %d fail", s.pkg, passed, len(failed))
	for _, name := range failed {
		if !slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") }) && s.known[name] == "" {
			t.Errorf("%s: %s", name, texts[name])
		}
	}
	for name := range s.known {
		if !slices.Contains(failed, name) {
			t.Errorf("%s passes, or does not run, although it is known to fail", name)
		}
	}
	if passed < s.least {
		t.Errorf("%d tests pass, want at least %d: %v\n%s", passed, s.least, runErr, texts[""])
	}
}

// dirOf returns the folder of a package.
func dirOf(t *testing.T, pkg string) string {
	t.Helper()
	out, err := command("list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("%s: %v", pkg, err)
	}
	return strings.TrimSpace(string(out))
}

// command returns a command of go that finds its modules in the go.mod of this folder.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	cmd.Stderr = os.Stderr
	return cmd
}
