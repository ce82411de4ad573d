package recording

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/deed-project/deed/value"
)

// Scenario is a recorded history; a file has one on each line.
type Scenario struct {
	Name  string      `json:"name"`
	Class string      `json:"class"`
	CRD   value.Value `json:"crd"`
	Steps []Step      `json:"steps"`
}

// Step is a request and its answer. Body is absent, or a JSON value, or a string with a body that is not JSON.
type Step struct {
	Method      string      `json:"method"`
	Path        string      `json:"path"`
	Query       string      `json:"query,omitempty"`
	ContentType string      `json:"contentType,omitempty"`
	Body        value.Value `json:"body,omitzero"`
	Code        int         `json:"code"`
	Response    value.Value `json:"response"`
	Warnings    []string    `json:"warnings,omitempty"`
}

// History is the recorded history of one object of a built-in kind on a kube-apiserver; a file has one on each line.
type History struct {
	Name  string     `json:"name"`
	Kind  string     `json:"kind"`
	Steps []Exchange `json:"steps"`
}

// Exchange is a step of a History with the stored object before and after it. It can be repeated without the earlier steps. Live
// and After are in the version of the request; null means no object.
type Exchange struct {
	Step
	Op         string      `json:"op"` // the type of the request, such as smp for a strategic merge patch
	APIVersion string      `json:"apiVersion"`
	UserAgent  string      `json:"userAgent"`
	Live       value.Value `json:"live,omitzero"`
	After      value.Value `json:"after,omitzero"`
}

// ReadFile reads recordings from the named file, one JSON text a line. A name that ends with .gz is a compressed file.
func ReadFile(name string) ([]Scenario, error) { return Load[Scenario](name) }

// ReadHistories reads recordings of a kube-apiserver, as ReadFile does.
func ReadHistories(name string) ([]History, error) { return Load[History](name) }

// Load reads one JSON text a line from the named file. A name that ends with .gz is a compressed file.
func Load[T any](name string) (all []T, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if all, err = read[T](r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// Read reads recordings, one JSON text a line.
func Read(r io.Reader) ([]Scenario, error) { return read[Scenario](r) }

func read[T any](r io.Reader) ([]T, error) {
	var all []T
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var one T
			if err := json.Unmarshal(line, &one); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			all = append(all, one)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
