package openapi

import (
	"strconv"
	"strings"
)

// path is a position in a schema: a list of steps from the inside out. The nil path is the root. Paths share their common
// steps, so that positions cost little until one is printed.
type path struct {
	outer *path
	step  string // a keyword, or [i] or [name] after one
}

func (p *path) in(step string) *path { return &path{p, step} }

// index returns the step to item i of a list.
func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// String returns the steps from the outside in, such as properties[spec].items.
func (p *path) String() string {
	var steps []string
	for ; p != nil; p = p.outer {
		steps = append(steps, p.step)
	}
	var out strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		if out.Len() > 0 && steps[i][0] != '[' {
			out.WriteByte('.')
		}
		out.WriteString(steps[i])
	}
	return out.String()
}
