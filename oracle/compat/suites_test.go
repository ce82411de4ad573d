package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	reference  = "sigs.k8s.io/structured-merge-diff/v6@v6.4.2"
	kubernetes = "k8s.io/kubernetes@v1.37.1"
)

// TestOriginal runs structured-merge-diff's own tests, as they are, on deed's packages.
func TestOriginal(t *testing.T) { judge(t, original(t), nil, 1963, "./...") }

// original returns a folder with deed's packages and, beside each, the tests of structured-merge-diff.
func original(t *testing.T) string {
	t.Helper()
	dir, theirs := t.TempDir(), download(t, reference)
	copyTree(t, standIn(t), dir, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	for _, pkg := range []string{"value", "fieldpath", "schema", "typed", "merge"} {
		copyTree(t, filepath.Join(theirs, pkg), filepath.Join(dir, pkg), func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	}
	for _, support := range []string{"internal", "smd"} { // what only the tests use: the fixture, the command line and objects
		copyTree(t, filepath.Join(theirs, support), filepath.Join(dir, support), func(string) bool { return true })
	}
	run(t, dir, "go", "mod", "edit", "-replace", "github.com/deed-project/deed="+root(t),
		"-require", "github.com/google/go-cmp@v0.7.0", "-require", "sigs.k8s.io/randfill@v1.0.0")
	return dir
}

// TestImports is the dependency policy of the stand-in: deed's public packages below managedfields, and a YAML library.
func TestImports(t *testing.T) {
	dir := t.TempDir()
	copyTree(t, standIn(t), dir, func(string) bool { return true })
	run(t, dir, "go", "mod", "edit", "-replace", "github.com/deed-project/deed="+root(t))
	out, err := command(dir, "go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	const deed, own = "github.com/deed-project/deed/", "sigs.k8s.io/structured-merge-diff/v6/"
	allowed := map[string]string{
		"internal/door": "",
		"value":         deed + "value " + deed + "value/structs go.yaml.in/yaml/v2",
		"schema":        deed + "schema " + own + "internal/door " + own + "value",
		"fieldpath":     deed + "fieldpath " + deed + "value " + own + "internal/door " + own + "schema " + own + "value",
		"typed": deed + "fieldpath " + deed + "schema " + deed + "typed " + deed + "value go.yaml.in/yaml/v2 " +
			own + "fieldpath " + own + "internal/door " + own + "schema " + own + "value",
		"merge": deed + "fieldpath " + deed + "merge " + deed + "typed " + own + "fieldpath " + own + "internal/door " + own + "typed",
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(words[0], own)
		may, ok := allowed[pkg]
		if !ok {
			t.Errorf("package %s is not in the table", pkg)
		}
		for _, imported := range words[1:] {
			if strings.Contains(imported, ".") && !slices.Contains(strings.Fields(may), imported) {
				t.Errorf("package %s imports %s", pkg, imported)
			}
		}
	}
}

// TestPlay compares what command play prints with both.
func TestPlay(t *testing.T) {
	cases := "1000"
	if n := os.Getenv("DEED_CASES"); n != "" {
		cases = n
	}
	dir := t.TempDir()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod = append(mod, "\nreplace sigs.k8s.io/structured-merge-diff/v6 => ../../compat/structured-merge-diff\n"...)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o644); err != nil {
		t.Fatal(err)
	}
	copyTree(t, "go.sum", filepath.Join(dir, "go.sum"), func(string) bool { return true })
	play := func(name string, flags ...string) []string {
		program := filepath.Join(dir, name)
		run(t, ".", "go", slices.Concat([]string{"build"}, flags, []string{"-o", program, "./play"})...)
		out, err := command(".", program, "-cases", cases).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(out), "\n")
	}
	theirs, ours := play("theirs", "-mod=readonly"), play("ours", "-modfile", filepath.Join(dir, "go.mod"))
	if len(theirs) != len(ours) || len(ours) < 1000 {
		t.Fatalf("they print %d and %d lines", len(theirs), len(ours))
	}
	for i := range ours {
		if theirs[i] != ours[i] {
			t.Fatalf("with structured-merge-diff:\n%s\nwith deed:\n%s", theirs[i], ours[i])
		}
	}
	t.Logf("%d lines are equal", len(ours))
}

// TestOperations demands that each row of structured-merge-diff's BenchmarkOperations allocates at most a fourth. It logs the rows as a
// table, with the shortest times of several rounds in which both take turns.
func TestOperations(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a benchmark for minutes")
	}
	theirs := t.TempDir()
	copyTree(t, download(t, reference), theirs, func(string) bool { return true })
	before, after := benchmark{dir: theirs}, benchmark{dir: original(t)}
	for range 5 {
		before.run(t)
		after.run(t)
	}
	table := []string{"| row | times as fast | µs | µs with deed | a part of the allocations |", "|---|---|---|---|---|"}
	for _, row := range slices.Sorted(maps.Keys(before.rows)) {
		b, a := before.rows[row], after.rows[row]
		part := b.allocs / max(a.allocs, 1)
		if a.nanos == 0 || part < 4 {
			t.Errorf("%s allocates %.0f times, and %.0f times with deed", row, b.allocs, a.allocs)
		}
		table = append(table, fmt.Sprintf("| %s | %.1fx | %.0f | %.0f | 1/%.1f |", row, b.nanos/a.nanos, b.nanos/1e3, a.nanos/1e3, part))
	}
	if t.Logf("%d rows\n%s", len(before.rows), strings.Join(table, "\n")); len(before.rows) < 54 {
		t.Errorf("there are %d rows", len(before.rows))
	}
}

// benchmark is BenchmarkOperations of the module in dir, and what its rows cost.
type benchmark struct {
	dir, program string
	rows         map[string]cost
}

// cost is what a row costs at least.
type cost struct{ nanos, allocs float64 }

var benchmarkRow = regexp.MustCompile(`(?m)^BenchmarkOperations/(\S+)\s+\d+\s+([0-9.]+) ns/op.* (\d+) allocs/op`)

// run runs the benchmark once more. It is compiled before the first run.
func (b *benchmark) run(t *testing.T) {
	t.Helper()
	if b.program == "" {
		b.program, b.rows = filepath.Join(t.TempDir(), "merge.test"), map[string]cost{}
		run(t, b.dir, "go", "test", "-c", "-o", b.program, "./merge")
	}
	out, err := command(filepath.Join(b.dir, "merge"), b.program,
		"-test.run", "^$", "-test.bench", "BenchmarkOperations", "-test.benchtime", "20x", "-test.cpu", "1").Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range benchmarkRow.FindAllStringSubmatch(string(out), -1) {
		nanos, err := strconv.ParseFloat(m[2], 64)
		allocs, err2 := strconv.ParseFloat(m[3], 64)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		c := cost{nanos, allocs}
		if known, ok := b.rows[m[1]]; ok {
			c = cost{min(c.nanos, known.nanos), min(c.allocs, known.allocs)}
		}
		b.rows[m[1]] = c
	}
}

// suite is the tests of some packages of a module.
type suite struct {
	module   string
	packages []string
	least    int               // the number of tests, with their parts, that pass at least
	known    map[string]string // the tests that fail, each with the reason
	schemas  map[string]string // by file: what leads to Kubernetes' repository, of which the module is a part there
	needs    string            // an environment variable that the tests need; without it they are skipped
}

// suites are the tests of other projects that touch managed fields.
var suites = map[string]suite{
	"apiextensions-apiserver": { // its servers store objects in the etcd that the variable names
		module: "k8s.io/apiextensions-apiserver@v0.37.2", packages: []string{"./test/integration"}, least: 246, needs: "KUBE_INTEGRATION_ETCD_URL",
	},
	"apimachinery": {
		module: "k8s.io/apimachinery@v0.37.2", packages: []string{"./pkg/util/managedfields/..."}, least: 158,
		known: map[string]string{"TestFieldsToSetError": "it looks for the name of a function of json-iterator in an error"},
		schemas: map[string]string{
			"pkg/util/managedfields/fieldmanager_test.go":          `strings.Repeat(".."+string(filepath.Separator), 7)`,
			"pkg/util/managedfields/internal/fieldmanager_test.go": `strings.Repeat(".."+string(filepath.Separator), 8)`,
		},
	},
	"client-go": {
		module:   "k8s.io/client-go@v0.37.2",
		packages: []string{"./util/csaupgrade/...", "./testing/...", "./applyconfigurations/...", "./kubernetes/fake/..."}, least: 44,
	},
	"controller-runtime": { // its fake client; one Go test runs 361 specs
		module: "sigs.k8s.io/controller-runtime@v0.25.2", packages: []string{"./pkg/client/fake"}, least: 1,
	},
	"kube-openapi": {
		module: "k8s.io/kube-openapi@v0.0.0-20260821135717-be32def86098", packages: []string{"./pkg/schemaconv/..."}, least: 18,
	},
	"apiserver": {
		module:   "k8s.io/apiserver@v0.37.2",
		packages: []string{"./pkg/endpoints/handlers/...", "./pkg/admission/plugin/policy/mutating/..."}, least: 618,
		schemas: map[string]string{
			"pkg/endpoints/handlers/fieldmanager/bench_test.go": `strings.Repeat(".."+string(filepath.Separator), 8)`,
		},
	},
}

// TestSuites runs the tests of other projects with a replace directive in copies of their modules.
func TestSuites(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(suites)) {
		t.Run(name, func(t *testing.T) { suites[name].run(t) })
	}
}

func (s suite) run(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the packages of another project")
	}
	if s.needs != "" && os.Getenv(s.needs) == "" {
		t.Skipf("%s is not set", s.needs)
	}
	dir := t.TempDir()
	copyTree(t, download(t, s.module), dir, func(string) bool { return true })
	for name, up := range s.schemas {
		file := filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte(up)) {
			t.Fatalf("%s has no %q: the edit is made for another version", name, up)
		}
		there := strings.ReplaceAll(up, `".."+string(filepath.Separator)`, `""`) + "+ " + `"` + download(t, kubernetes) + `"`
		if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte(up), []byte(there)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "go", "mod", "edit", "-go", "1.26.0", "-replace", "github.com/deed-project/deed="+root(t),
		"-replace", "sigs.k8s.io/structured-merge-diff/v6="+standIn(t))
	judge(t, dir, s.known, s.least, s.packages...)
}

// judge runs tests in dir. It reports those that fail and are not known, known ones that pass, and that fewer than least pass.
func judge(t *testing.T, dir string, known map[string]string, least int, packages ...string) {
	t.Helper()
	out, err := command(dir, "go", append([]string{"test", "-json", "-vet=off", "-count=1", "-timeout=30m"}, packages...)...).Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	passed, output, missed := 0, map[string]string{}, maps.Clone(known)
	for line := range bytes.Lines(out) {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch key := e.Package + " " + e.Test; {
		case e.Action == "output" || e.Action == "build-output":
			output[key] += e.Output
		case e.Action == "build-fail":
			t.Errorf("%s does not build:\n%s", e.Package, output[key])
		case e.Test == "":
		case e.Action == "pass":
			passed++
		case e.Action == "fail" && known[e.Test] != "":
			delete(missed, e.Test)
		case e.Action == "fail":
			t.Errorf("%s fails:\n%s", key, output[key])
		}
	}
	for test, reason := range missed {
		t.Errorf("%s passes, and was thought to fail because %s", test, reason)
	}
	if t.Logf("%d tests pass", passed); passed < least {
		t.Errorf("%d tests pass, and %d did; %s", passed, least, failed)
	}
}

// download returns the folder of a module in the module cache.
func download(t *testing.T, module string) string {
	t.Helper()
	out, err := command(".", "go", "mod", "download", "-json", module).Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	return m.Dir
}

// root returns the folder of this repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// standIn returns the folder of deed's module.
func standIn(t *testing.T) string { return filepath.Join(root(t), "compat", "structured-merge-diff") }

// copyTree copies the files below from whose names keep admits to to, where they may be changed.
func copyTree(t *testing.T, from, to string, keep func(name string) bool) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !keep(path) {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		return errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o644))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, dir string, name string, args ...string) {
	t.Helper()
	if out, err := command(dir, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// command returns a command in dir, outside of the workspace, that may add to go.sum.
func command(dir, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	return c
}
