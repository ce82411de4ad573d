// Package trail collects where in a document an error is, while it is passed on from there to the
// root.
package trail

import "strings"

// Trail is the steps from the root to a value, such as .spec or [2], the last one first. Joining
// them whenever one is added would cost the square of the depth, which the author of a text
// chooses.
type Trail []string

// Add adds a step in front of those that there are.
func (t *Trail) Add(step string) { *t = append(*t, step) }

// Path returns the steps joined, from the root on, such as .spec.ports[2], and "" at the root.
func (t Trail) Path() string {
	var b strings.Builder
	for i := len(t) - 1; i >= 0; i-- {
		b.WriteString(t[i])
	}
	return b.String()
}
