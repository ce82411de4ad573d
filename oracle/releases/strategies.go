package releases

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What a kube-apiserver of a release does with an object before it stores it: its default values, and the strategies of its kinds, which drop
// the fields of gates that are off and what an endpoint does not write. A program with the packages of that release answers it.

//go:embed testdata/strategies.go.txt
var strategiesSource string

// Query asks for what becomes of random objects of a kind.
type Query struct {
	APIVersion, Kind string
	Hub              string // the apiVersion in which the objects are stored
	Seed             uint64
	Count            int // how many answers
}

// Stored is what becomes of two random objects. A member is nil where the release has no answer.
type Stored struct {
	First, Second            json.RawMessage // the objects
	Read                     json.RawMessage // First with default values
	Created, Updated, Status json.RawMessage // First as it is created, and Created as Second updates it: the main endpoint, and the status
}

// BuildStrategies builds the program of a release in dir, an empty directory, and returns its path. version is that of k8s.io/kubernetes, such as
// v1.31.14. It takes minutes.
func BuildStrategies(oracle, dir, version string) (string, error) {
	m := &module{oracle: oracle, dir: dir, version: version}
	text := "module release\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes " + version + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		return "", err
	}
	sources, err := m.source("k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	required, err := os.ReadFile(filepath.Join(sources, "go.mod"))
	if err != nil {
		return "", err
	}
	query := []string{"list", "-m", "-f", "replace {{.Path}} => {{.Path}} {{.Version}}"}
	for _, staged := range regexp.MustCompile(`(?m)^\t(k8s\.io/\S+) v0\.0\.0$`).FindAllStringSubmatch(string(required), -1) {
		query = append(query, staged[1]+"@<=v0"+strings.TrimPrefix(version, "v1")) // not all have each patch release
	}
	replaced, err := m.run(query...)
	if err != nil {
		return "", err
	}
	text += "\n" + replaced
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o644); err != nil {
		return "", err
	}
	instead, err := schemeOf(oracle, sources)
	if err != nil {
		return "", err
	}
	for _, from := range []string{"kube/peer", "kube/scheme"} {
		if err := m.add(from, from, false, instead); err != nil {
			return "", err
		}
	}
	table, err := strategiesOf(sources)
	if err != nil {
		return "", err
	}
	for name, source := range map[string]string{"main.go": strategiesSource, "table.go": table} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o644); err != nil {
			return "", err
		}
	}
	program := filepath.Join(dir, "strategies")
	_, err = m.run("build", "-o", program, ".")
	return program, err
}

// source returns the directory of a module's sources.
func (m *module) source(path string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", path+"@"+m.version)
	command.Env = append(os.Environ(), "GOWORK=off")
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", path, m.version, err)
	}
	var downloaded struct{ Dir string }
	return downloaded.Dir, json.Unmarshal(text, &downloaded)
}

// schemeOf returns the source of package scheme without the groups that a release does not have.
func schemeOf(oracle, sources string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(oracle, "kube/scheme/scheme.go"))
	if err != nil {
		return nil, err
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if _, path, ok := strings.Cut(line, `"k8s.io/kubernetes/`); ok {
			if _, err := os.Stat(filepath.Join(sources, strings.TrimSuffix(path, "\"\n"))); err != nil {
				continue
			}
		}
		kept = append(kept, line)
	}
	return map[string]string{"scheme.go": strings.Join(kept, "")}, nil
}

// kindsOfStrategies has the kinds of packages of strategies, where the package has not the name of the kind. The group of core is empty.
var kindsOfStrategies = map[string]string{
	"certificates/certificates": "CertificateSigningRequest", "core/endpoint": "Endpoints", "storagemigration/storagemigration": "StorageVersionMigration",
}

// groupsOfStrategies has the groups whose names have a domain.
var groupsOfStrategies = map[string]string{
	"core": "", "admissionregistration": "admissionregistration.k8s.io", "certificates": "certificates.k8s.io", "coordination": "coordination.k8s.io",
	"discovery": "discovery.k8s.io", "flowcontrol": "flowcontrol.apiserver.k8s.io", "networking": "networking.k8s.io", "node": "node.k8s.io",
	"rbac": "rbac.authorization.k8s.io", "resource": "resource.k8s.io", "scheduling": "scheduling.k8s.io", "storage": "storage.k8s.io",
	"storagemigration": "storagemigration.k8s.io", "apiserverinternal": "internal.apiserver.k8s.io",
}

// strategiesOf returns the source of the tables of strategies, by group and kind. A strategy that is made by a function is left out.
func strategiesOf(sources string) (string, error) {
	files, err := filepath.Glob(filepath.Join(sources, "pkg/registry/*/*/strategy.go"))
	if err != nil {
		return "", err
	}
	slices.Sort(files)
	var imports, main, status strings.Builder
	for n, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if !strings.Contains(string(text), "\nvar Strategy = ") {
			continue
		}
		dir := filepath.Dir(file)
		name := filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
		group, kind, _ := strings.Cut(name, "/")
		if known, ok := kindsOfStrategies[name]; ok {
			kind = known
		}
		if known, ok := groupsOfStrategies[group]; ok {
			group = known
		}
		fmt.Fprintf(&imports, "\tp%d \"k8s.io/kubernetes/pkg/registry/%s\"\n", n, name)
		fmt.Fprintf(&main, "\tadd(strategies, %q, %q, p%d.Strategy)\n", group, kind, n)
		if strings.Contains(string(text), "\nvar StatusStrategy = ") {
			fmt.Fprintf(&status, "\tadd(statuses, %q, %q, p%d.StatusStrategy)\n", group, kind, n)
		}
	}
	return `package main

import (
	"strings"

	"release/kube/scheme"

` + imports.String() + `)

var strategies, statuses = map[string]any{}, map[string]any{}

// add adds the strategy of the kind whose name is kind, or that in lower case.
func add(to map[string]any, group, kind string, strategy any) {
	for gvk := range scheme.All().AllKnownTypes() {
		if gvk.Group == group && strings.EqualFold(gvk.Kind, kind) {
			to[group+"/"+gvk.Kind] = strategy
		}
	}
}

func init() {
` + main.String() + status.String() + "}\n", nil
}
