package walk

import "fmt"

// Warnings collects warnings.
type Warnings struct {
	Texts []string
	Minor int // the minor release of Kubernetes; 0 for the current one
}

// Before reports whether the release is one before v1.N.
func (w *Warnings) Before(minor int) bool { return isBefore(w.Minor, minor) }

// Enough is how many warnings are looked for: more than an answer has room for.
const Enough = 1000

// Add adds a warning.
func (w *Warnings) Add(format string, args ...any) {
	w.Texts = append(w.Texts, fmt.Sprintf(format, args...))
}

// Each warns of each item of a list.
func (w *Warnings) Each(list Place, warn func(w *Warnings, item Place)) {
	for i := range list.Indexes() {
		warn(w, list.Index(i))
	}
}
