package releases

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What the sources of this module have otherwise for releases whose libraries lack something.
var (
	//go:embed testdata/resets_test.go.txt
	resetsOfSets string // up to v1.31: fields that are not written are sets
	//go:embed testdata/further.go.txt
	furtherSources string // up to v1.36: kube-aggregator publishes no types
	//go:embed testdata/converter.go.txt
	converterOfClient string // up to v1.33: client-go has the converter of a scheme
	//go:embed testdata/nullable.go.txt
	neverNullable string // up to v1.36: schemas do not say what admits null
)

// module is a module for the libraries of a release, with sources of this one.
type module struct {
	oracle  string // the directory of module oracle
	dir     string // empty at first
	version string // of the modules of Kubernetes, such as v0.31.14
	minor   int
}

// newModule returns a module that requires some modules of Kubernetes in one version.
func newModule(oracle, dir, version string, requires ...string) (*module, error) {
	m := &module{oracle: oracle, dir: dir, version: version}
	if _, err := fmt.Sscanf(version, "v0.%d.", &m.minor); err != nil {
		return nil, fmt.Errorf("%q is no version of the modules of Kubernetes: %w", version, err)
	}
	text := "module release\n\ngo 1.26.0\n"
	for _, path := range requires {
		text += fmt.Sprintf("\nrequire %s %s\n", path, version)
	}
	return m, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644)
}

// add copies the sources of a package of oracle, whose directory is from, to the directory to of m. It leaves out tests, unless the package
// is one. instead has other sources for files, by name.
func (m *module) add(to, from string, tests bool, instead map[string]string) error {
	files, err := filepath.Glob(filepath.Join(m.oracle, from, "*.go"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(m.dir, to), 0o755); err != nil {
		return err
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(name, "_test.go") && !tests {
			continue
		}
		source, ok := instead[name]
		if !ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			source = string(text)
		}
		source = strings.ReplaceAll(source, "github.com/deed-project/deed/oracle/", "release/")
		if m.minor <= 33 {
			source = strings.ReplaceAll(source, "structured-merge-diff/v6", "structured-merge-diff/v4")
		}
		if err := os.WriteFile(filepath.Join(m.dir, to, name), []byte(source), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addKinds adds package kinds, for the kinds of client-go.
func (m *module) addKinds() error {
	instead := map[string]string{"further.go": furtherSources}
	if m.minor <= 33 {
		instead["converter.go"] = converterOfClient
	}
	return m.add("kinds", "kinds", false, instead)
}

// run runs a command of Go in m, and returns what it prints. It takes modules from the module proxy.
func (m *module) run(arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = m.dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var out, failure bytes.Buffer
	command.Stdout, command.Stderr = &out, &failure
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("the module of %s: %w\n%s%s", m.version, err, &out, &failure)
	}
	return out.String(), nil
}

// Program is the player of a release.
type Program struct {
	Path   string
	Engine string // a hash of the packages that answer writes to custom resources: equal ones give equal answers
}

// enginePackages begin the paths of the packages that answer writes to custom resources.
var enginePackages = []string{
	"k8s.io/apimachinery/pkg/util/managedfields", "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured", "sigs.k8s.io/structured-merge-diff/",
	"k8s.io/kube-openapi/pkg/schemaconv", "k8s.io/kube-openapi/pkg/validation/spec",
}

// Build builds the player of a release in dir, an empty directory. oracle is the directory of module oracle. version is that of
// k8s.io/client-go, such as v0.31.14.
func Build(oracle, dir, version string) (p Program, err error) {
	m, err := newModule(oracle, dir, version, "k8s.io/client-go")
	if err != nil {
		return p, err
	}
	if err := m.addKinds(); err != nil {
		return p, err
	}
	if err := m.add("relabel", "relabel", false, nil); err != nil {
		return p, err
	}
	instead := map[string]string{}
	if m.minor <= 31 {
		instead["resets_test.go"] = resetsOfSets
	}
	if err := m.add("player", filepath.Join("releases", "player"), true, instead); err != nil {
		return p, err
	}
	p.Path = filepath.Join(dir, "player.test")
	if _, err := m.run("test", "-c", "-o", p.Path, "./player"); err != nil {
		return p, err
	}
	p.Engine, err = m.engine()
	return p, err
}

// engine returns the hash of the sources of enginePackages.
func (m *module) engine() (string, error) {
	list, err := m.run("list", "-test", "-deps", "-f", `{{$p := .}}{{range .GoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}{{"\n"}}{{end}}`, "./player")
	if err != nil {
		return "", err
	}
	hash, files := sha256.New(), 0
	for line := range strings.Lines(list) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.ContainsFunc(enginePackages, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, path, filepath.Base(file), len(text))
		hash.Write(text)
		files++
	}
	if files == 0 {
		return "", fmt.Errorf("the module of %s: no packages of the engine", m.version)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Schemas returns the schemas of the built-in kinds of a release, in the form of schema/builtin/schema.json. Those of
// CustomResourceDefinition and APIService are not there. dir is an empty directory. version is that of k8s.io/client-go, of a release before
// v1.37.
func Schemas(oracle, dir, version string) ([]byte, error) {
	m, err := newModule(oracle, dir, version, "k8s.io/client-go")
	if err != nil {
		return nil, err
	}
	if err := m.addKinds(); err != nil {
		return nil, err
	}
	if err := m.add("genschema", "genschema", false, map[string]string{"nullable.go": neverNullable}); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "schema.json")
	if _, err := m.run("run", "./genschema", "-o", file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}
