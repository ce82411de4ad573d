package gitops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The tests of other projects, run in copies of their modules with some files replaced. None of their code is in this repository:
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
	m := modules{dir: t.TempDir(), copies: map[string]string{}}
	for _, e := range s.edits {
		e.apply(t, filepath.Join(m.folder(t, e.pkg), e.file))
	}
	args := append([]string{"test", "-json", "-vet=off", "-count=1", "-timeout=30m", "-modfile", m.file(t)}, s.args...)
	s.judge(t, command(append(args, s.pkg)...))
}

// apply edits the file at path.
func (e edit) apply(t *testing.T, path string) {
	t.Helper()
	from := path
	if e.by != "" {
		from = filepath.Join("testdata", e.by)
	}
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(e.old)) {
		t.Fatalf("%s has no %q: the adapter is made for another version", path, e.old)
	}
	if e.by == "" {
		text = bytes.ReplaceAll(text, []byte(e.old), []byte(e.new))
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// modules are copies of modules, which are edited, because the module cache is not.
type modules struct {
	dir    string
	copies map[string]string // by the path of the module
}

// folder returns the folder of a package in the copy of its module.
func (m modules) folder(t *testing.T, pkg string) string {
	t.Helper()
	out, err := command("list", "-f", "{{.Module.Path}} {{.Module.Dir}} {{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("%s: %v", pkg, err)
	}
	words := strings.Fields(string(out))
	module, root, dir := words[0], words[1], words[2]
	if m.copies[module] == "" {
		m.copies[module] = filepath.Join(m.dir, fmt.Sprintf("copy%d", len(m.copies)))
		if err := os.CopyFS(m.copies[module], os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(m.copies[module], func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			return os.Chmod(path, 0o755)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(m.copies[module], strings.TrimPrefix(dir, root))
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if err := os.Chmod(file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// file returns the name of a go.mod that is the one of this folder, with the copies in place of their modules.
func (m modules) file(t *testing.T) string {
	t.Helper()
	file := filepath.Join(m.dir, "suite.mod")
	for from, to := range map[string]string{"go.mod": file, "go.sum": filepath.Join(m.dir, "suite.sum")} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for module, dir := range m.copies {
		if out, err := command("mod", "edit", "-replace", module+"="+dir, file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return file
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
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "Ran ") { // the specs of a suite, which is one test
				t.Logf("%s: %s", s.pkg, strings.TrimSpace(line))
			}
		}
	}
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

// command returns a command of go that finds its modules in the go.mod of this folder.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	return cmd
}
