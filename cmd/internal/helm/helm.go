// Package helm asks the program Helm what it would apply. Helm itself renders the chart, with the values and the revision of the release and
// what the cluster serves; nothing of that is written twice. The package runs no command of Helm that writes.
package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Helm is a program, and how it is run.
type Helm struct {
	Program string    // the path or the name of the program
	Env     []string  // variables beside those of the process
	Err     io.Writer // receives the messages of Helm
}

// Manager is the field manager of Helm, also if its program has another name.
const Manager = "helm"

// Release is what Helm applies for a release. The zero Release is one that does not exist.
type Release struct {
	Name        string `json:"name"`
	Namespace   string `json:"namespace"`
	Manifest    string `json:"manifest"`     // the objects, without hooks
	ApplyMethod string `json:"apply_method"` // [ServerSide], "csa", or empty for a release of Helm 3
	Definitions string `json:"-"`            // the CustomResourceDefinitions of the chart, which Helm creates where they are missing
	Info        struct {
		Status string `json:"status"` // such as deployed, failed or uninstalled
	} `json:"info"`
}

// ServerSide is the ApplyMethod of releases that Helm writes by server-side apply.
const ServerSide = "ssa"

// The statuses of revisions that decide with which one Helm compares the next.
const (
	deployed    = "deployed"
	uninstalled = "uninstalled"
)

// Deployed returns the revision with which Helm compares the next one: the newest that is deployed, and without one the newest. The zero
// Release says that there is none, because Helm installs a release anew if it is uninstalled.
func (h Helm) Deployed(name string) (r Release, err error) {
	var messages bytes.Buffer
	out, err := h.run(&messages, "status", name, "-o", "json")
	if err != nil && strings.Contains(messages.String(), "release: not found") {
		return Release{}, nil
	}
	if err != nil {
		_, failed := h.Err.Write(messages.Bytes())
		return Release{}, errors.Join(err, failed)
	}
	if err := decode(out, &r); err != nil {
		return Release{}, err
	}
	switch r.Info.Status {
	case deployed:
		return r, nil
	case uninstalled:
		return Release{}, nil
	}
	revision, err := h.deployedRevision(name)
	if err != nil || revision == 0 {
		return r, err
	}
	if out, err = h.run(h.Err, "status", name, "--revision", strconv.Itoa(revision), "-o", "json"); err != nil {
		return Release{}, err
	}
	r = Release{}
	return r, decode(out, &r)
}

// deployedRevision returns the newest revision of a release that is deployed, or 0 if none is.
func (h Helm) deployedRevision(name string) (newest int, err error) {
	out, err := h.run(h.Err, "history", name, "-o", "json")
	if err != nil {
		return 0, err
	}
	var all []struct {
		Revision int    `json:"revision"`
		Status   string `json:"status"`
	}
	if err := decode(out, &all); err != nil {
		return 0, err
	}
	for _, r := range all {
		if r.Status == deployed {
			newest = max(newest, r.Revision)
		}
	}
	return newest, nil
}

// Upgrade returns what helm upgrade --install would apply. args begins with the names of the release and the chart.
func (h Helm) Upgrade(args []string) (r Release, err error) {
	out, err := h.run(h.Err, append(append([]string{"upgrade"}, args...), "--install", "--dry-run=server", "-o", "json")...)
	if err != nil {
		return Release{}, err
	}
	return r, decode(out, &r)
}

// Template returns what helm template renders. It needs no permission to read releases, and knows none: args says what is to be like in one.
// args begins with the names of the release and the chart.
func (h Helm) Template(args []string) (Release, error) {
	flags := append([]string{"--dry-run=server", "--include-crds", "--no-hooks"}, args[2:]...)
	out, err := h.run(h.Err, append([]string{"template", args[0], args[1]}, flags...)...)
	if err != nil {
		return Release{}, err
	}
	namespace, err := h.run(h.Err, "env", "HELM_NAMESPACE")
	if err != nil {
		return Release{}, err
	}
	r := Release{Name: args[0], Namespace: strings.TrimSpace(string(namespace))}
	r.Definitions, r.Manifest = split(string(out))
	return r, nil
}

// definitionPattern matches the comment that names a file in the folder for definitions of a chart, or of a chart in it.
const definitionPattern = `^# Source: [^/]+(/charts/[^/]+)*/crds/`

// split returns the definitions in what helm template prints, and all else. Both have the lines of the text: those of the other are empty.
func split(text string) (definitions, rest string) {
	isDefinition := regexp.MustCompile(definitionPattern)
	var d, r strings.Builder
	to, other := &r, &d
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line == "---\n" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "# Source: ") {
			if to, other = &r, &d; isDefinition.MatchString(lines[i+1]) {
				to, other = &d, &r
			}
		}
		to.WriteString(line)
		other.WriteString("\n")
	}
	return d.String(), r.String()
}

func decode(out []byte, into any) error {
	if err := json.Unmarshal(out, into); err != nil {
		return errors.New("what helm printed is no JSON") // the text may have secrets
	}
	return nil
}

// run runs Helm, and returns what it prints. The error says that Helm failed, not why: that is what Helm wrote to messages.
func (h Helm) run(messages io.Writer, args ...string) ([]byte, error) {
	cmd := exec.Command(h.Program, args...)
	cmd.Env = append(os.Environ(), h.Env...)
	cmd.Stderr = messages
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("helm %s failed", args[0])
	}
	return out, err
}
