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
	Problems int       // how many were reported so far
}

// The exit codes of the command.
const (
	ExitFinding  = 1 // the answer is one to look at: a conflict, a difference
	ExitInput    = 2 // the command line or the input is wrong
	ExitInternal = 3 // deed failed: it has a defect, or could not write its output
)

// Write writes a message as it is. It implements [io.Writer].
func (c *Log) Write(message []byte) (int, error) {
	c.clear()
	return c.Err.Write(message)
}

// Join writes to c what was written to other, a log that writes to a buffer.
func (c *Log) Join(other *Log) {
	c.Problems += other.Problems
	c.Raise(other.Code)
	if b, ok := other.Err.(*bytes.Buffer); ok && b.Len() > 0 {
		c.Write(b.Bytes())
	}
}

// Raise makes the exit code at least code.
func (c *Log) Raise(code int) { c.Code = max(c.Code, code) }

// Problem reports something that is wrong with the input, in one line.
func (c *Log) Problem(where Position, format string, args ...any) {
	c.Problems++
	c.Raise(ExitInput)
	c.say(where, "", format, args...)
}

// Warn reports something odd about the input that is put up with, in one line.
func (c *Log) Warn(where Position, format string, args ...any) {
	c.say(where, "warning: ", format, args...)
}

// Failed reports an error that is not one of the input.
func (c *Log) Failed(err error) {
	fmt.Fprintf(c, "deed: %v\n", err)
	c.Raise(ExitInternal)
}

func (c *Log) say(where Position, prefix, format string, args ...any) {
	fmt.Fprintf(c, "%v: %s%s\n", where, prefix, OneLine(fmt.Sprintf(format, args...)))
}

// OneLine joins the lines of text.
func OneLine(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines[1:] {
		lines[i+1] = strings.TrimLeft(line, " \t")
	}
	return strings.Join(lines, " ")
}
