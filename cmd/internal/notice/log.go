// Package notice collects the messages of a run beside its answer: problems and warnings, each with a [Position] in a file, and the
// progress. It also computes the exit code. A [Log] receives all of them.
package notice

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Log collects the messages of a run, and the resulting exit code.
type Log struct {
	Err      io.Writer // receives the messages
	shows    bool      // whether to show progress
	shown    bool      // whether a line of progress is visible now
	Code     int       // the exit code so far
	Problems int       // the number of notices so far that are no warnings
	Notices  []Notice  // all notices, in order
}

// Write writes a message unchanged. It implements [io.Writer].
func (c *Log) Write(message []byte) (int, error) {
	c.clear()
	return c.Err.Write(message)
}

// Join adds the contents of other, a log that writes to a buffer.
func (c *Log) Join(other *Log) {
	c.Problems += other.Problems
	c.Notices = append(c.Notices, other.Notices...)
	c.Raise(other.Code)
	if b, ok := other.Err.(*bytes.Buffer); ok && b.Len() > 0 {
		c.Write(b.Bytes())
	}
}

// Raise sets the exit code to at least code.
func (c *Log) Raise(code int) { c.Code = max(c.Code, code) }

// Problem reports unusable input, in one line.
func (c *Log) Problem(where Position, format string, args ...any) {
	c.Report(Notice{Class: Unread, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Refuse reports an object that a server refuses, in one line.
func (c *Log) Refuse(where Position, format string, args ...any) {
	c.Report(Notice{Class: Refused, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Warn reports oddities of the input that do not stop the command, in one line.
func (c *Log) Warn(where Position, format string, args ...any) {
	c.Report(Notice{Class: Odd, Warning: true, Where: where, Text: fmt.Sprintf(format, args...)})
}

// Report writes n in one line, and keeps it for answers that list notices. Unless n is a warning, it raises the exit code to that of its
// class.
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

// Failed reports an error that the input did not cause.
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
