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

// ReadFile reads the recordings in the named file, one JSON text a line. A name that ends with .gz
// is that of a compressed file.
func ReadFile(name string) (scenarios []Scenario, err error) {
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
	if scenarios, err = Read(r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return scenarios, nil
}

// Read reads recordings, one JSON text a line.
func Read(r io.Reader) ([]Scenario, error) {
	var scenarios []Scenario
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var s Scenario
			if err := json.Unmarshal(line, &s); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			scenarios = append(scenarios, s)
		}
		if errors.Is(err, io.EOF) {
			return scenarios, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
