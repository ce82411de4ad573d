package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/internal/release/dist"
)

// action runs steps of action.yml like GitHub.
type action struct {
	t       *testing.T
	dir     string // the checkout of the pull request
	temp    string // RUNNER_TEMP
	summary string
}

// newAction returns an action in an empty checkout, with a deed that was built from this repository.
func newAction(t *testing.T) *action {
	t.Helper()
	a := &action{t, t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "summary")}
	a.git("init", "-q")
	out, err := a.step(0, map[string]string{"DEED_REF": "main"})
	if err != nil || !strings.HasPrefix(out, "deed ") {
		t.Fatalf("deed is not installed: %v\n%s", err, out)
	}
	return a
}

// step runs a step of action.yml with the variables inputs in place of the step's own, and returns its output.
func (a *action) step(number int, inputs map[string]string) (string, error) {
	a.t.Helper()
	path, err := filepath.Abs(top)
	check(a.t, err)
	s := stepsOf(a.t, "action.yml")[number]
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+path, "RUNNER_TEMP="+a.temp, "GITHUB_STEP_SUMMARY="+a.summary)
	for name := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+inputs[name])
	}
	for name, value := range inputs {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (a *action) git(args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Dir = a.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits a file and returns the hash of the commit.
func (a *action) commit(name, text string) string {
	a.t.Helper()
	file := filepath.Join(a.dir, filepath.FromSlash(name))
	check(a.t, os.MkdirAll(filepath.Dir(file), 0o755))
	check(a.t, os.WriteFile(file, []byte(text), 0o644))
	a.git("add", "-A")
	a.git("commit", "-q", "--no-gpg-sign", "-m", name)
	return a.git("rev-parse", "HEAD")
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: registry.example.org/web:1}
`

// live is deployment as it is stored, with the replicas of an autoscaler.
const live = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  managedFields:
  - {manager: autoscaler, operation: Apply, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}}
spec:
  replicas: 7
  selector: {matchLabels: {app: web}}
`

// TestPullRequest runs the action on a pull request that changes the replicas: against the base, against live objects with other owners,
// and with an unknown field.
func TestPullRequest(t *testing.T) {
	a := newAction(t)
	base := a.commit("deploy/web.yaml", deployment)
	a.commit("deploy/web.yaml", strings.Replace(deployment, "replicas: 1", "replicas: 2", 1))
	inputs := map[string]string{"DEED_FILES": "deploy\n", "DEED_BASE": base, "DEED_FIELD_MANAGER": "ci", "DEED_SARIF": "deed-sarif"}

	out, err := a.step(1, inputs)
	if err != nil || !strings.Contains(out, ".spec.replicas: 1 becomes 2") || strings.Contains(out, "conflicting") {
		t.Errorf("against the base: %v\n%s", err, out)
	}
	if summary := read(t, a.summary); string(summary) != out {
		t.Errorf("the summary is\n%s\nand not\n%s", summary, out)
	}
	if found := append(a.results("validate"), a.results("plan")...); len(found) > 0 {
		t.Errorf("these are found: %v", found)
	}

	check(t, os.WriteFile(filepath.Join(a.dir, "live.yaml"), []byte(live), 0o644))
	inputs["DEED_LIVE"] = "live.yaml"
	if out, err := a.step(1, inputs); err == nil || !strings.Contains(out, ".spec.replicas: 7 becomes 2") || !strings.Contains(out, `owned by "autoscaler"`) {
		t.Errorf("in conflict: %v\n%s", err, out)
	}
	if found := a.results("plan"); len(found) != 1 || found[0] != "deploy/web.yaml:5" {
		t.Errorf("the conflicts are at %v", found)
	}

	inputs["DEED_LIVE"] = ""
	a.commit("deploy/web.yaml", strings.Replace(deployment, "replicas", "replikas", 1))
	if out, err := a.step(1, inputs); err == nil || !strings.Contains(out, "deploy/web.yaml:5:3") {
		t.Errorf("with a field that does not exist: %v\n%s", err, out)
	}
	if found := a.results("validate"); len(found) != 1 || found[0] != "deploy/web.yaml:5" {
		t.Errorf("the findings are %v", found)
	}
}

// TestNewFiles plans to create objects that the base does not have.
func TestNewFiles(t *testing.T) {
	a := newAction(t)
	base := a.commit("README.md", "nothing yet")
	a.commit("deploy/web.yaml", deployment)
	inputs := map[string]string{"DEED_FILES": "deploy/web.yaml", "DEED_BASE": base, "DEED_FIELD_MANAGER": "ci", "DEED_SARIF": "deed-sarif"}
	if out, err := a.step(1, inputs); err != nil || !strings.Contains(out, "1 created") {
		t.Errorf("%v\n%s", err, out)
	}
}

// results returns the locations in the SARIF file of a command.
func (a *action) results(command string) (out []string) {
	a.t.Helper()
	var log struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine json.Number }
					}
				}
			}
		}
	}
	check(a.t, json.Unmarshal(read(a.t, filepath.Join(a.dir, "deed-sarif", command+".sarif")), &log))
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		out = append(out, at.ArtifactLocation.URI+":"+at.Region.StartLine.String())
	}
	return out
}

// TestInstallRelease installs the archive of a release, and refuses an archive with another checksum.
func TestInstallRelease(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the action installs archives on Linux and macOS")
	}
	program := dist.File{Name: "deed", Mode: 0o755, Content: []byte("#!/bin/sh\necho deed v0.1.0 \"$@\"\n")}
	beside := dist.File{Name: "deed-validate", Mode: 0o755, Content: program.Content}
	archive, err := dist.Archive("deed_v0.1.0_"+runtime.GOOS+"_"+runtime.GOARCH, runtime.GOOS, []dist.File{program, beside}, time.Unix(0, 0))
	check(t, err)
	downloads := t.TempDir()
	check(t, os.Mkdir(filepath.Join(downloads, "v0.1.0"), 0o755))
	for _, f := range []dist.File{archive, dist.Checksums([]dist.File{archive})} {
		check(t, os.WriteFile(filepath.Join(downloads, "v0.1.0", f.Name), f.Content, f.Mode))
	}
	inputs := map[string]string{"DEED_REF": "v0.1.0", "DEED_DOWNLOADS": "file://" + downloads}
	a := &action{t, t.TempDir(), t.TempDir(), ""}
	if out, err := a.step(0, inputs); err != nil || !strings.HasSuffix(out, "deed v0.1.0 version\n") {
		t.Errorf("%v\n%s", err, out)
	}
	other := bytes.Replace(archive.Content, []byte{0}, []byte{1}, 1)
	check(t, os.WriteFile(filepath.Join(downloads, "v0.1.0", archive.Name), other, 0o644))
	a = &action{t, t.TempDir(), t.TempDir(), ""}
	if out, err := a.step(0, inputs); err == nil || !strings.Contains(out, archive.Name+": FAILED") {
		t.Errorf("what somebody changed is installed: %v\n%s", err, out)
	}
}
