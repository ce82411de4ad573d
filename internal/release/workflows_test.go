package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"gopkg.in/yaml.v3"
)

const top = "../.." // the root of the repository

// useOfAction returns a workflow with the job in docs/releasing.md. The linter then reads action.yml.
func useOfAction(t *testing.T) string {
	t.Helper()
	_, rest, found := strings.Cut(string(read(t, top+"/docs/releasing.md")), "```yaml\n")
	sample, _, _ := strings.Cut(rest, "```")
	job := strings.Replace(sample, "uses: deed-project/deed@v0.1.0", "uses: ./", 1)
	if !found || job == sample {
		t.Fatalf("docs/releasing.md shows no use of the action:\n%s", sample)
	}
	return "on: pull_request\njobs:\n  plan:\n    runs-on: ubuntu-24.04\n    " + strings.ReplaceAll(job, "\n", "\n    ")
}

// TestWorkflows runs a linter on the workflows and the action.
func TestWorkflows(t *testing.T) {
	names, err := filepath.Glob(top + "/.github/workflows/*.yml")
	check(t, err)
	if len(names) < 2 {
		t.Errorf("there are only %v", names)
	}
	project, err := actionlint.NewProject(top)
	check(t, err)
	texts := map[string]string{"docs/releasing.md": useOfAction(t)}
	for _, name := range names {
		texts[name] = string(read(t, name))
	}
	for name, text := range texts {
		linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		check(t, err)
		found, err := linter.Lint(name, []byte(text), project)
		check(t, err)
		for _, x := range found {
			t.Errorf("%s: %v", name, x)
		}
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	check(t, err)
	found, err := linter.Lint("use.yml", []byte(strings.Replace(useOfAction(t), "files:", "folders:", 1)), project)
	check(t, err)
	if len(found) < 2 {
		t.Errorf("the linter did not read action.yml: %v", found)
	}
}

// TestPinned checks that actions of others are pinned to a commit, with the version in a comment.
func TestPinned(t *testing.T) {
	for _, name := range []string{"gate.yml", "release.yml"} {
		for line := range strings.Lines(string(read(t, filepath.Join(top, ".github/workflows", name)))) {
			_, use, found := strings.Cut(line, "uses: ")
			if _, pin, _ := strings.Cut(use, "@"); found && !(len(pin) > 44 && strings.HasPrefix(pin[40:], " # v")) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}

type step struct {
	Run string
	Env map[string]string
}

// stepsOf returns the steps of a workflow or an action that run a command.
func stepsOf(t *testing.T, name string) (out []step) {
	t.Helper()
	var file struct {
		Jobs map[string]struct{ Steps []step }
		Runs struct{ Steps []step }
	}
	check(t, yaml.Unmarshal(read(t, filepath.Join(top, name)), &file))
	steps := file.Runs.Steps
	for _, job := range file.Jobs {
		steps = append(steps, job.Steps...)
	}
	for _, s := range steps {
		if s.Run != "" {
			out = append(out, s)
		}
	}
	return out
}

// TestWorkflowCommands runs every command line of the workflows in a directory where each program only records its call. This program must
// accept its own calls.
func TestWorkflowCommands(t *testing.T) {
	const note = "#!/bin/sh\necho \"$(basename \"$0\") $*\" >>\"$NOTES\"\n"
	dir, bin := t.TempDir(), t.TempDir()
	notes := filepath.Join(t.TempDir(), "notes")
	for _, name := range []string{filepath.Join(bin, "go"), filepath.Join(bin, "gh"), filepath.Join(dir, ".ci/run")} {
		check(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check(t, os.WriteFile(name, []byte(note), 0o755))
	}
	for _, name := range []string{"checksums.txt", "deed_v0.1.0_image.tar"} {
		check(t, os.MkdirAll(filepath.Join(dir, "dist"), 0o755))
		check(t, os.WriteFile(filepath.Join(dir, "dist", name), nil, 0o644))
	}
	for _, name := range []string{".github/workflows/gate.yml", ".github/workflows/release.yml"} {
		for _, s := range stepsOf(t, name) {
			cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "NOTES="+notes, "GITHUB_REF_NAME=v0.1.0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", name, s.Run, err, out)
			}
		}
	}
	lines := strings.Split(strings.TrimSpace(string(read(t, notes))), "\n")
	want := []string{
		"run ",
		"go run ./internal/release build -version v0.1.0 -o dist",
		"gh release create v0.1.0 --verify-tag --title v0.1.0 --notes See CHANGELOG.md. dist/checksums.txt dist/deed_v0.1.0_image.tar",
		"go run ./internal/release push dist/deed_v0.1.0_image.tar",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("the workflows run\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range lines {
		if args, ours := strings.CutPrefix(line, "go run ./internal/release "); ours {
			if _, _, err := parse(strings.Fields(args), io.Discard); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if info, err := os.Stat(top + "/.ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the gate cannot be run: %v", err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	check(t, err)
	return text
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
