package modules_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/release/modules"
)

const sum = `package sum

func Of(a, b int) int { return a + b }
`

const program = `package main

import (
	"os"

	sum "github.com/deed-project/deed"
)

func main() { os.Stdout.WriteString("0123456789"[sum.Of(3, 4):][:1]) }
`

// repository is one of five modules that require nothing else, each a file by its name.
func repository() map[string]string {
	return map[string]string{
		"LICENSE":           "free\n",
		"go.mod":            "module github.com/deed-project/deed\n\ngo 1.26.0\n",
		"sum.go":            sum,
		"cmd/go.mod":        "module github.com/deed-project/deed/cmd\n\ngo 1.26.0\n\nrequire github.com/deed-project/deed v0.1.0\n",
		"cmd/seven/main.go": program,
		"compat/structured-merge-diff/go.mod": "module sigs.k8s.io/structured-merge-diff/v6\n\ngo 1.26.0\n\n" +
			"require github.com/deed-project/deed v0.1.0\n",
		"compat/structured-merge-diff/merge/merge.go": "package merge\n",
		"kube/go.mod":      "module github.com/deed-project/deed/kube\n\ngo 1.26.0\n\nrequire github.com/deed-project/deed v0.1.0\n",
		"kube/kube.go":     "package kube\n",
		"server/go.mod":    "module github.com/deed-project/deed/server\n\ngo 1.26.0\n\nrequire github.com/deed-project/deed v0.1.0\n",
		"server/server.go": "package server\n",
		"internal/x/x.mod": "module example.org/x\n\nrequire github.com/deed-project/deed/cmd v0.1.0\n",
		"internal/y/y.mod": "module example.org/y\n\nrequire sigs.k8s.io/structured-merge-diff/v6 v6.4.2\n\n" +
			"replace sigs.k8s.io/structured-merge-diff/v6 => github.com/deed-project/deed/compat/structured-merge-diff v0.1.0\n",
		"internal/held/go.mod": "module example.org/held\n\nreplace github.com/deed-project/deed/cmd => ../\n\nrequire github.com/deed-project/deed/cmd v0.0.0\n",
		"internal/held/no.go":  "package held\n",
	}
}

// commit makes a checkout of files.
func commit(t *testing.T, files map[string]string) *modules.Checkout {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--no-gpg-sign", "-m", "one", "--date=2026-11-02T09:30:00Z"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-11-02T09:30:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	c, err := modules.Open(filepath.Join(dir, "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestProxy installs a program from the proxy of a commit. A file that is not committed would break it.
func TestProxy(t *testing.T) {
	c := commit(t, repository())
	if err := os.WriteFile(filepath.Join(c.Dir, "sum.go"), []byte("no Go"), 0o644); err != nil {
		t.Fatal(err)
	}
	version, err := c.Version()
	if err != nil || version != "v0.1.0" {
		t.Fatalf("the version is %s, %v", version, err)
	}
	proxy, bin := t.TempDir(), t.TempDir()
	if err := c.WriteProxy(version, proxy); err != nil {
		t.Fatal(err)
	}
	tool, err := modules.NewTool(proxy, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.With("GOBIN="+bin).Run("install", "github.com/deed-project/deed/cmd/seven@latest"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(bin, "seven")).Output(); err != nil || string(out) != "7" {
		t.Errorf("it prints %q, %v", out, err)
	}
	at := filepath.Join(proxy, "github.com/deed-project/deed/@v")
	if info := read(t, filepath.Join(at, "v0.1.0.info")); info != `{"Version":"v0.1.0","Time":"2026-11-02T09:30:00Z"}` {
		t.Errorf("the version is described as %s", info)
	}
	if got, want := names(t, filepath.Join(at, "v0.1.0.zip")), []string{"LICENSE", "go.mod", "internal/x/x.mod", "internal/y/y.mod", "sum.go"}; !slices.Equal(got, want) {
		t.Errorf("the module at the root has %v, want %v", got, want)
	}
	ofServer := filepath.Join(proxy, "github.com/deed-project/deed/server/@v/v0.1.0.zip")
	if got, want := names(t, ofServer), []string{"LICENSE", "go.mod", "server.go"}; !slices.Equal(got, want) {
		t.Errorf("the module of the server has %v, want %v", got, want)
	}
}

// TestTwoVersions keeps the versions that a proxy has, each once.
func TestTwoVersions(t *testing.T) {
	files, proxy := repository(), t.TempDir()
	for _, version := range []string{"v0.10.0", "v0.2.0", "v0.10.0"} {
		for _, name := range []string{"cmd/go.mod", "compat/structured-merge-diff/go.mod", "kube/go.mod", "server/go.mod"} {
			files[name] = strings.ReplaceAll(repository()[name], "v0.1.0", version)
		}
		if err := commit(t, files).WriteProxy(version, proxy); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, filepath.Join(proxy, "github.com/deed-project/deed/cmd/@v/list")); got != "v0.2.0\nv0.10.0\n" {
		t.Errorf("the list is %q", got)
	}
}

// TestRefused names everything that would keep others from installing a module.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, old, new, version, want string }{
		{"go.mod", "", "", "v0.1.0", ""},
		{"go.mod", "", "", "v0.2.0", "cmd/go.mod:5: it requires github.com/deed-project/deed@v0.1.0, and the release is v0.2.0\n" +
			"compat/structured-merge-diff/go.mod:5: it requires github.com/deed-project/deed@v0.1.0, and the release is v0.2.0\n" +
			"kube/go.mod:5: it requires github.com/deed-project/deed@v0.1.0, and the release is v0.2.0\n" +
			"server/go.mod:5: it requires github.com/deed-project/deed@v0.1.0, and the release is v0.2.0"},
		{"go.mod", "", "", "0.1.0", `github.com/deed-project/deed@0.1.0: invalid version: not a semantic version`},
		{"go.mod", "", "", "v2.0.0", `github.com/deed-project/deed@v2.0.0: invalid version: should be v0 or v1, not v2`},
		{"cmd/go.mod", "require", "replace github.com/deed-project/deed => ../\n\nrequire", "v0.1.0",
			"cmd/go.mod:5: go install refuses a module that replaces another: github.com/deed-project/deed"},
		{"server/go.mod", "require", "exclude example.org/a v1.0.0\n\nrequire", "v0.1.0",
			"server/go.mod:5: go install refuses a module that excludes versions: example.org/a@v1.0.0"},
		{"server/go.mod", "deed v0.1.0", "deed/oracle v0.1.0", "v0.1.0",
			"server/go.mod:5: it requires github.com/deed-project/deed/oracle, which is not published"},
		{"compat/structured-merge-diff/go.mod", "module sigs.k8s.io", "module example.org", "v0.1.0",
			"compat/structured-merge-diff/go.mod:1: the module is example.org/structured-merge-diff/v6, and its folder makes it " +
				"sigs.k8s.io/structured-merge-diff/v6"},
		{"server/go.mod", "deed/server", "deed/serve", "v0.1.0",
			"server/go.mod:1: the module is github.com/deed-project/deed/serve, and its folder makes it github.com/deed-project/deed/server"},
	} {
		files := repository()
		files[c.name] = strings.Replace(files[c.name], c.old, c.new, 1)
		got, proxy := "", t.TempDir()
		if err := commit(t, files).WriteProxy(c.version, proxy); err != nil {
			got = err.Error()
			if left, err := os.ReadDir(proxy); err != nil || len(left) > 0 {
				t.Errorf("%s is refused and leaves %v, %v", c.version, left, err)
			}
		}
		if got != c.want {
			t.Errorf("%s with %q: %s\nwant: %s", c.name, c.new, got, c.want)
		}
	}
}

// TestTidy makes a module tidy that requires a version which does not exist.
func TestTidy(t *testing.T) {
	files := repository()
	files["cmd/go.mod"] = "module github.com/deed-project/deed/cmd\n\ngo 1.26.0\n\nrequire github.com/deed-project/deed v0.1.0 // indirect\n\n" +
		"require github.com/deed-project/deed/server v0.1.0\n"
	dir := commit(t, files).Dir
	of := filepath.Join(dir, "cmd")
	mod, sum, err := modules.Tidy(dir, of, filepath.Join(of, "go.mod"), filepath.Join(of, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if string(mod) != repository()["cmd/go.mod"] || len(sum) > 0 {
		t.Errorf("it has\n%s\nand the sums\n%s", mod, sum)
	}
	if got := read(t, filepath.Join(of, "go.mod")); got != files["cmd/go.mod"] {
		t.Errorf("the file itself is now\n%s", got)
	}
}

// TestBump leaves alone what is replaced.
func TestBump(t *testing.T) {
	dir := commit(t, repository()).Dir
	changed, err := modules.Bump(dir, "v0.2.0")
	if err != nil || !slices.Equal(changed, []string{
		"cmd/go.mod", "compat/structured-merge-diff/go.mod", "internal/x/x.mod", "internal/y/y.mod", "kube/go.mod", "server/go.mod",
	}) {
		t.Errorf("these change: %v, %v", changed, err)
	}
	for _, name := range []string{"cmd/go.mod", "internal/y/y.mod"} {
		want := strings.ReplaceAll(repository()[name], "v0.1.0", "v0.2.0")
		if got := read(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is\n%s", name, got)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names returns the names of the files in the zip of a module, without those of the module.
func names(t *testing.T, zipFile string) []string {
	t.Helper()
	z, err := zip.OpenReader(zipFile)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var out []string
	for _, f := range z.File {
		_, name, _ := strings.Cut(f.Name, "@v0.1.0/")
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
