// Command scoreboard runs the suites of other projects on control planes that they start through envtest, and writes what passes on each:
//
//	go run ./scoreboard -assets real=DIR -assets deed=DIR -results DIR -page ../docs/scoreboard.md [-suite NAME]
//
// Each DIR of assets has programs kube-apiserver and etcd; deed-apiserver assets DIR writes those of deed. Suites come from the module proxy,
// and run unchanged, one package after the other, each with a control plane of its own. A suite takes minutes to build. The results are kept
// in a folder, with what the suites print, so that suites can run one at a time; the page has all of them.
package main

import (
	"encoding/json"
	"errors"
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
	Name, module, version string
	packages              []string // patterns of go list
	env                   []string
	needs, why            string // a file that the suite cannot run without, and what for; empty for none
	remark                string // a paragraph of the page; empty for none
}

var suites = []suite{
	{"controller-runtime", "sigs.k8s.io/controller-runtime", "v0.25.2", []string{"./pkg/..."}, nil, "", "", ""},
	{"flux ssa", "github.com/fluxcd/pkg/ssa", "v0.78.0", []string{"./..."}, nil, "", "", "TestWaitForSet_JobWithTTL of flux ssa " +
		"fails by chance on deed. Its client may send five requests a second; if the server answers fast, this limit ends the wait first."},
	{"karpenter", "sigs.k8s.io/karpenter", "v1.14.1", []string{"./pkg/apis/...", "./pkg/controllers/..."}, []string{"K8S_VERSION=1.37.0"}, "", "", ""},
	{"cluster-api", "sigs.k8s.io/cluster-api", "v1.14.2", []string{
		"./controllers/...", "./core/...", "./controlplane/kubeadm/...", "./bootstrap/kubeadm/reconcilers/...", "./internal/util/ssa/...",
		"./internal/topology/...", "./util/controller", "./util/patch/...", "./util/deprecated/...",
	}, nil, "", "", ""},
	{"kro", "github.com/kubernetes-sigs/kro", "v0.9.4", []string{"./test/integration/..."}, nil, "", "", ""},
	{"kuberay", "github.com/ray-project/kuberay/ray-operator", "v1.5.0", []string{"./controllers/ray", "./pkg/webhooks/..."}, nil, "", "", ""},
	{"gatekeeper", "github.com/open-policy-agent/gatekeeper/v3", "v3.23.1", []string{"./pkg/controller/...", "./pkg/readiness", "./pkg/watch"}, nil, "", "", ""},
	{"kustomize-controller", "github.com/fluxcd/kustomize-controller", "v1.9.6", []string{"./internal/controller"}, nil,
		"/var/run/docker.sock", "its suite starts Vault in a container, and the machine had no Docker", ""},
}

func main() {
	var planes []plane
	flag.Func("assets", "NAME=DIR of a control plane; may be repeated", func(text string) error {
		name, dir, found := strings.Cut(text, "=")
		if !found {
			return errors.New("want NAME=DIR")
		}
		dir, err := filepath.Abs(dir)
		planes = append(planes, plane{name, dir})
		return err
	})
	only := flag.String("suite", "", "run this suite alone")
	results := flag.String("results", "", "folder of results, and of what the suites print")
	page := flag.String("page", "", "file to write with all results of the folder")
	flag.Parse()
	err := errors.New("-results is missing")
	if *results != "" {
		err = run(planes, *only, *results)
	}
	if err == nil && *page != "" {
		err = writePage(*page, *results)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scoreboard:", err)
		os.Exit(1)
	}
}

// plane is a control plane: its name on the page, and the folder of its programs.
type plane struct{ name, dir string }

// run runs suites on control planes, and keeps the results in a folder.
func run(planes []plane, only, results string) error {
	if err := os.MkdirAll(results, 0o755); err != nil {
		return err
	}
	for _, s := range suites {
		if len(planes) == 0 || only != "" && s.Name != only {
			continue
		}
		if !s.canRun() {
			fmt.Printf("%s %s is not run: %s (%s)\n", s.Name, s.version, s.why, s.needs)
			continue
		}
		tests, err := s.build()
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		for _, p := range planes {
			total := result{Suite: s.Name + " " + s.version, Plane: p.name}
			for _, test := range tests {
				log := filepath.Join(results, strings.Join([]string{s.Name, p.name, strings.ReplaceAll(test.pkg, "/", "_")}, "-")+".log")
				r, err := test.run(append(s.env, "KUBEBUILDER_ASSETS="+p.dir), log)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.Name, test.pkg, err)
				}
				total.add(test.pkg, r)
			}
			text, err := json.MarshalIndent(total, "", "\t")
			if err != nil {
				return err
			}
			fmt.Printf("%s\n", text)
			if err := os.WriteFile(filepath.Join(results, s.Name+"-"+p.name+".json"), text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// canRun reports whether the machine has the file that the suite needs.
func (s *suite) canRun() bool {
	_, err := os.Stat(s.needs)
	return s.needs == "" || err == nil
}

// program is the tests of one package, built.
type program struct{ pkg, dir, path string }

// build builds the tests of the packages. The module is copied, because tests write beside their sources.
func (s *suite) build() ([]program, error) {
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
	if err := dropFolders(dir, s.version); err != nil {
		return nil, err
	}
	list, err := output(dir, "go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"}, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var tests []program
	for line := range strings.Lines(string(list)) {
		path, at, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue
		}
		// The name of go test, which some tests look for.
		p := program{strings.TrimPrefix(path, s.module+"/"), at, filepath.Join(at, filepath.Base(path)+".test")}
		if _, err := output(at, "go", "test", "-c", "-o", p.path, "."); err != nil {
			return nil, err
		}
		tests = append(tests, p)
	}
	return tests, nil
}

// dropFolders makes the module in a folder require modules of its repository from the proxy. Its replacements name folders that are not part
// of the module. A module that it requires without a version gets the given one, since a repository tags its modules together.
func dropFolders(dir, version string) error {
	text, err := output(dir, "go", "mod", "edit", "-json")
	if err != nil {
		return err
	}
	var module struct {
		Require []struct{ Path, Version string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal(text, &module); err != nil {
		return err
	}
	for _, r := range module.Replace {
		if !strings.HasPrefix(r.New.Path, ".") {
			continue
		}
		edits := []string{"mod", "edit", "-dropreplace", r.Old.Path}
		for _, required := range module.Require {
			if required.Path == r.Old.Path && strings.HasPrefix(required.Version, "v0.0.0") {
				edits = append(edits, "-require", r.Old.Path+"@"+version)
			}
		}
		if _, err := output(dir, "go", edits...); err != nil {
			return err
		}
	}
	return nil
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

// result is the outcome of a program of tests, or of a suite on a control plane.
type result struct {
	Suite, Plane            string
	Passed, Failed, Skipped int
	Failures                []string // names; of a suite, after the package
	Seconds                 float64
	Memory                  int64 // at most, of kube-apiserver and etcd together, in bytes
}

// add adds the outcome of a package to that of its suite.
func (r *result) add(pkg string, o result) {
	r.Passed, r.Failed, r.Skipped, r.Seconds = r.Passed+o.Passed, r.Failed+o.Failed, r.Skipped+o.Skipped, r.Seconds+o.Seconds
	r.Memory = max(r.Memory, o.Memory)
	for _, name := range o.Failures {
		r.Failures = append(r.Failures, pkg+": "+name)
	}
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
	r.Seconds, r.Memory = time.Since(begin).Seconds(), memory
	if !c.ProcessState.Success() && r.Failed == 0 {
		r.Failed, r.Failures = 1, []string{fmt.Sprintf("ended with %v, see the log", c.ProcessState)}
	}
	slices.Sort(r.Failures)
	return r, nil
}
