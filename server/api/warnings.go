package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

const (
	warningsTotal = 4096 // runes of all warnings above which each is cut
	warningCut    = 256  // runes of a warning after the cut
)

// Warnings collects the warnings of an answer, each text once. It is safe for concurrent use. The zero Warnings is empty and ready.
type Warnings struct {
	mu    sync.Mutex
	texts []string
	seen  map[string]bool
}

// Add adds warnings. It ignores empty and repeated texts.
func (w *Warnings) Add(texts ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, text := range texts {
		if text == "" || w.seen[text] {
			continue
		}
		if w.seen == nil {
			w.seen = map[string]bool{}
		}
		w.seen[text] = true
		w.texts = append(w.texts, text)
	}
}

// Texts returns the warnings.
func (w *Warnings) Texts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}

// Empty reports whether there are no warnings.
func (w *Warnings) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.texts) == 0
}

// AddWarning implements warning.Recorder of k8s.io/apiserver, whose callers also name an agent.
func (w *Warnings) AddWarning(_, text string) { w.Add(text) }

// AddStrict adds the errors of strict decoding as warnings. An error of a YAML library with several lines becomes one warning per line.
func (w *Warnings) AddStrict(errs []string) {
	for _, err := range errs {
		err = strings.TrimPrefix(err, "error converting YAML to JSON: ")
		lines, several := strings.CutPrefix(err, "yaml: unmarshal errors:\n")
		if !several {
			w.Add(err)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			w.Add(strings.TrimSpace(line))
		}
	}
}

// Write adds the warnings to the header of an answer. If all together have more than 4096 runes, each is cut to 256, and the rest is
// dropped after 4096. Texts that a header cannot hold are dropped.
func (w *Warnings) Write(h http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	total := 0
	for _, text := range w.texts {
		total += utf8.RuneCountInString(text)
	}
	written := 0
	for _, text := range w.texts {
		if total > warningsTotal {
			if written >= warningsTotal {
				return
			}
			text = cut(text, warningCut)
			written += utf8.RuneCountInString(text)
		}
		if header, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			h.Add("Warning", header)
		}
	}
}

// cut returns the first n runes of text.
func cut(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
