package yaml

import (
	"fmt"
	"strings"
)

// Error says where and why a text could not be parsed. It quotes names of members but no values, because the text may contain secrets.
type Error struct {
	File   string // the name that [Parse] got
	Line   int    // one-based; 0 if unknown
	Column int    // one-based, in characters; 0 if unknown
	Reason string // one line, such as `key "a" is already set in line 2`
}

// Error returns the known part of the place and the reason, such as "deploy.yaml:12:5: reason".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
	}
	if e.Line > 0 && e.Column > 0 {
		fmt.Fprintf(&b, "%d:", e.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	return b.String() + e.Reason
}
