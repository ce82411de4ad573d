package yaml

import (
	"fmt"
	"strings"
)

// Error says where and why a text could not be read. It quotes names of members and no values, because a
// text that cannot be read may hold secrets.
type Error struct {
	File   string // the name that [Parse] was given
	Line   int    // counted from 1; 0 when it is not known
	Column int    // counted from 1 in characters; 0 when it is not known
	Reason string // one line, such as `key "a" is already set in line 2`
}

// Error returns the reason behind what is known of the place, such as "deploy.yaml:12:5: reason".
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
