package jsontext

import "strings"

// Trail has the steps from the root to a value, such as .spec or [2], the last one first. Joining them at each step would have
// quadratic cost in the depth, and the author of a text chooses the depth.
type Trail []string

// Add adds a step before the existing ones.
func (t *Trail) Add(step string) { *t = append(*t, step) }

// Path returns the joined steps from the root on, such as .spec.ports[2], or "" at the root.
func (t Trail) Path() string {
	var b strings.Builder
	for i := len(t) - 1; i >= 0; i-- {
		b.WriteString(t[i])
	}
	return b.String()
}
