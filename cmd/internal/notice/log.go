// Package notice is what a run of the command says beside its answer: problems and warnings, each
// at a [Position] in a file, how far the work is, and the exit code that follows from it. A [Log]
// is where all of that goes.
package notice

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Log is what a run says beside its answer, and the exit code that follows from it.
type Log struct {
	Err      io.Writer // where messages go
	shows    bool      // whether progress is shown
	shown    bool      // whether a line shows progress now
	Code     int       // the exit code so far
	Problems int       // how many notices so far are no warnings
	Notices  []Notice  // all of them, in order
}

// Write writes a message as it is. It implements [io.Writer].
func (c *Log) Write(message []byte) (int, error) {
	c.clear()
	return c.Err.Write(message)
}

// Join writes to c what was written to other, a log that writes to a buffer.
func (c *Log) Join(other *Log) {
	c.Problems += other.Problems
	c.Notices = append(c.Notices, other.Notices...)
	c.Raise(other.Code)
	if b, ok := other.Err.(*bytes.Buffer); ok && b.Len() > 0 {
		c.Write(b.Bytes())
	}
}

// Raise makes the exit code at least code.
func (c *Log) Raise(code int) { c.Code = max(c.Code, code) }

// Problem reports input that cannot be used, in one line.
func (c *Log) Problem(where Position, format string, args ...any) {
	c.Report(Notice{Class: Unread, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Refuse reports an object that a server refuses, in one line.
func (c *Log) Refuse(where Position, format string, args ...any) {
	c.Report(Notice{Class: Refused, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Warn reports something odd about the input that is put up with, in one line.
func (c *Log) Warn(where Position, format string, args ...any) {
	c.Report(Notice{Class: Odd, Warning: true, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Report writes n in one line, and keeps it for answers that list notices. The exit code becomes that of its class.
func (c *Log) Report(n Notice) {
	n.Text = OneLine(n.Text)
	c.Notices = append(c.Notices, n)
	prefix := "warning: "
	if !n.Warning {
		prefix = ""
		c.Problems++
		c.Raise(n.Class.exitCode())
	}
	if n.Subject != "" {
		prefix += n.Subject + ": "
	}
	fmt.Fprintf(c, "%v: %s%s\n", n.Where, prefix, n.Text)
}

// Failed reports what went wrong and is not the fault of the input.
func (c *Log) Failed(reason string) {
	fmt.Fprintf(c, "deed: %s\n", reason)
	c.Raise(ExitInternal)
}

// OneLine joins the lines of text.
func OneLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimLeft(line, " \t")
	}
	return strings.Join(lines, " ")
}
