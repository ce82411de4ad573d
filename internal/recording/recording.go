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

// Scenario is one recorded history, one line of a file of recordings.
type Scenario struct {
	Name  string      `json:"name"`
	Class string      `json:"class"`
	CRD   value.Value `json:"crd"`
	Steps []Step      `json:"steps"`
}

// Step is a request and its answer. Body is absent, the JSON value that was sent, or a string with
// the text that was sent.
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

// History is what happened to one object of a built-in kind on a kube-apiserver, one line of a file
// of such recordings.
type History struct {
	Name  string     `json:"name"`
	Kind  string     `json:"kind"`
	Steps []Exchange `json:"steps"`
}

// Exchange is a step of a History with the state around it, so that each can be repeated without
// those before it. Live and After are the object as it was stored before and after, in the version
// of the request; null if there was none.
type Exchange struct {
	Step
	Op         string      `json:"op"` // what kind of request it is, such as smp for a strategic merge patch
	APIVersion string      `json:"apiVersion"`
	UserAgent  string      `json:"userAgent"`
	Live       value.Value `json:"live,omitzero"`
	After      value.Value `json:"after,omitzero"`
}

// ReadFile reads the recordings in the named file, one JSON text a line. A name that ends with .gz
// is that of a compressed file.
func ReadFile(name string) ([]Scenario, error) { return Load[Scenario](name) }

// ReadHistories is ReadFile for recordings of a kube-apiserver.
func ReadHistories(name string) ([]History, error) { return Load[History](name) }

// Load reads what the named file has, one JSON text a line. A name that ends with .gz is that of a
// compressed file.
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
