// Command scoreboard runs the suites of other projects on control planes that they start through envtest, and prints what passes on each as
// a table:
//
//	go run ./scoreboard -assets real=DIR -assets deed=DIR [-suite NAME] [-logs DIR]
//
// Each DIR has programs kube-apiserver and etcd; deed-apiserver assets DIR writes those of deed. Suites come from the module proxy, and run
// unchanged, one package after the other, each with a control plane of its own. A suite takes minutes to build.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// suite is tests of a module that use envtest.
type suite struct {
	name, module, version string
	packages              []string // patterns of go list
	env                   []string
}

var suites = []suite{
	{"controller-runtime", "sigs.k8s.io/controller-runtime", "v0.25.2", []string{"./pkg/..."}, nil},
	{"flux ssa", "github.com/fluxcd/pkg/ssa", "v0.78.0", []string{"./..."}, nil},
	{"karpenter", "sigs.k8s.io/karpenter", "v1.14.1", []string{"./pkg/apis/...", "./pkg/controllers/..."}, []string{"K8S_VERSION=1.37.0"}},
	{"kustomize-controller", "github.com/fluxcd/kustomize-controller", "v1.9.6", []string{"./internal/controller"}, nil},
}

func main() {
	planes := map[string]string{}
	var names []string
	flag.Func("assets", "NAME=DIR of a control plane; may be repeated", func(text string) error {
		name, dir, found := strings.Cut(text, "=")
		if !found {
			return fmt.Errorf("want NAME=DIR")
		}
		dir, err := filepath.Abs(dir)
		planes[name] = dir
		names = append(names, name)
		return err
	})
	only := flag.String("suite", "", "run this suite alone")
	pkg := flag.String("package", "", "run packages that contain this text alone")
	logs := flag.String("logs", "", "folder for what the suites print")
	flag.Parse()
	if err := run(planes, names, *only, *pkg, *logs); err != nil {
		fmt.Fprintln(os.Stderr, "scoreboard:", err)
		os.Exit(1)
	}
}

func run(planes map[string]string, names []string, only, pkg, logs string) error {
	if logs == "" {
		dir, err := os.MkdirTemp("", "scoreboard-logs-")
		if err != nil {
			return err
		}
		logs = dir
		fmt.Fprintln(os.Stderr, "logs:", logs)
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return err
	}
	fmt.Print("| suite | control plane | passed | failed | skipped | seconds | memory of its programs |\n|---|---|---|---|---|---|---|\n")
	var failures []string
	for _, s := range suites {
		if only != "" && s.name != only {
			continue
		}
		tests, err := s.build(pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, name := range names {
			var total result
			for _, test := range tests {
				log := filepath.Join(logs, strings.Join([]string{s.name, name, strings.ReplaceAll(test.pkg, "/", "_")}, "-")+".log")
				r, err := test.run(append(s.env, "KUBEBUILDER_ASSETS="+planes[name]), log)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, test.pkg, err)
				}
				for _, f := range r.failures {
					failures = append(failures, fmt.Sprintf("%s, %s, %s: %s", s.name, name, test.pkg, f))
				}
				total.add(r)
			}
			fmt.Printf("| %s %s | %s | %d | %d | %d | %.0f | %d MB |\n", s.name, s.version, name, total.passed, total.failed, total.skipped,
				total.took.Seconds(), total.memory>>20)
		}
	}
	for _, f := range failures {
		fmt.Println("-", f)
	}
	return nil
}

// program is the tests of one package, built.
type program struct{ pkg, dir, path string }

// build builds the tests of the packages whose path contains pkg. The module is copied, because tests write beside their sources.
func (s *suite) build(pkg string) ([]program, error) {
	text, err := output("", "go", "mod", "download", "-json", s.module+"@"+s.version)
	if err != nil {
		return nil, err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		return nil, err
	}
	dir := filepath.Join(os.TempDir(), "scoreboard", filepath.Base(s.module)+"@"+s.version)
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		if err := os.CopyFS(dir, os.DirFS(module.Dir)); err != nil {
			return nil, err
		}
	}
	list, err := output(dir, "go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"}, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var tests []program
	for line := range strings.Lines(string(list)) {
		path, at, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found || !strings.Contains(path, pkg) {
			continue
		}
		p := program{strings.TrimPrefix(path, s.module+"/"), at, filepath.Join(at, "scoreboard.test")}
		if _, err := output(at, "go", "test", "-c", "-o", p.path, "."); err != nil {
			return nil, err
		}
		tests = append(tests, p)
	}
	return tests, nil
}

// output runs a command, outside of any workspace, and returns what it prints.
func output(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	text, err := c.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return text, err
}

// result is the outcome of a program of tests.
type result struct {
	passed, failed, skipped int
	failures                []string // names
	took                    time.Duration
	memory                  int64 // at most, of kube-apiserver and etcd together, in bytes
}

func (r *result) add(o result) {
	r.passed, r.failed, r.skipped, r.took = r.passed+o.passed, r.failed+o.failed, r.skipped+o.skipped, r.took+o.took
	r.memory = max(r.memory, o.memory)
}

// run runs the tests with more environment variables, and writes what they print to a file.
func (p program) run(env []string, log string) (result, error) {
	f, err := os.Create(log)
	if err != nil {
		return result{}, err
	}
	defer f.Close() // everything is read back from it below
	c := exec.Command(p.path, "-test.v", "-test.timeout=20m")
	c.Dir, c.Stdout, c.Stderr = p.dir, f, f
	c.Env = append(os.Environ(), env...)
	begin := time.Now()
	if err := c.Start(); err != nil {
		return result{}, err
	}
	ended := make(chan struct{})
	var memory int64
	go func() {
		defer close(ended)
		_ = c.Wait() // failures are read from what it prints
	}()
	for isRunning := true; isRunning; {
		select {
		case <-ended:
			isRunning = false
		case <-time.After(200 * time.Millisecond):
			memory = max(memory, memoryOf(c.Process.Pid, []string{"kube-apiserver", "etcd"}))
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return result{}, err
	}
	r := outcome(string(text))
	r.took, r.memory = time.Since(begin), memory
	if !c.ProcessState.Success() && r.failed == 0 {
		r.failed, r.failures = 1, []string{fmt.Sprintf("ended with %v, see the log", c.ProcessState)}
	}
	slices.Sort(r.failures)
	return r, nil
}
