package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/deed-project/deed/oracle/histories"
)

// history is a history in the format of deed replay, as far as the scripts of rules use it.
type history struct {
	CRDs  []string `json:"crds"`
	Steps []step   `json:"steps"`
	crd   []byte   // the definition that CRDs names, as JSON; nil for a built-in kind
}

// step is one write.
type step struct {
	Note        string          `json:"note"`
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Endpoint    string          `json:"endpoint"`
	Force       bool            `json:"force"`
	Conflicts   int             `json:"conflicts"`
	Error       string          `json:"error"`
	Time        time.Time       `json:"time"`
	Object      json.RawMessage `json:"object"`
	Patch       json.RawMessage `json:"patch"`
}

// read parses the history in a txtar archive.
func read(file string) (*history, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	archive := txtar.Parse(text)
	var h history
	if err := yaml.Unmarshal(archive.Comment, &h, yaml.DisallowUnknownFields); err != nil {
		return nil, err
	}
	if len(h.CRDs) == 0 {
		return &h, nil
	}
	if len(h.CRDs) > 1 {
		return nil, fmt.Errorf("%s has %d definitions, want at most 1", file, len(h.CRDs))
	}
	definition, err := os.ReadFile(filepath.Join(filepath.Dir(file), h.CRDs[0]))
	for _, f := range archive.Files {
		if f.Name == h.CRDs[0] {
			definition, err = f.Data, nil
		}
	}
	if err != nil {
		return nil, err
	}
	h.crd, err = yaml.YAMLToJSON(definition)
	return &h, err
}

// world returns the world of the objects.
func (h *history) world() (*histories.World, error) {
	if h.crd != nil {
		return histories.Open("script", h.crd)
	}
	var object struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(h.Steps[0].Object, &object); err != nil {
		return nil, err
	}
	return histories.Open(strings.ToLower(object.Kind)+"s", nil)
}

// verb returns the verb of the step in a world.
func (s step) verb() histories.Verb {
	switch {
	case s.Operation == "update":
		return histories.Update
	case s.Force:
		return histories.Force
	}
	return histories.Apply
}

// endpoint returns the target of the step: the version in the step, or else that of its object.
func (s step) endpoint(body []byte) (histories.Endpoint, error) {
	var object struct {
		APIVersion string `json:"apiVersion"`
	}
	err := json.Unmarshal(body, &object)
	if s.Endpoint != "" {
		object.APIVersion = s.Endpoint
	}
	return histories.Endpoint{APIVersion: object.APIVersion, Subresource: s.Subresource}, err
}
