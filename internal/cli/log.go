package cli

import (
	"fmt"
	"io"
)

// log is what a run says beside its answer, and the exit code that follows from it.
type log struct {
	err      io.Writer // where messages go
	shows    bool      // whether progress is shown
	shown    bool      // whether a line shows progress now
	code     int       // the exit code so far
	problems int       // how many were reported so far
}

// The exit codes of the command.
const (
	exitFinding  = 1 // the answer is one to look at: a conflict, a difference
	exitInput    = 2 // the command line or the input is wrong
	exitInternal = 3 // deed failed: it has a defect, or could not write its output
)

// Write writes a message as it is. It implements [io.Writer].
func (c *log) Write(message []byte) (int, error) {
	c.clear()
	return c.err.Write(message)
}

// raise makes the exit code at least code.
func (c *log) raise(code int) { c.code = max(c.code, code) }

// problem reports something that is wrong with the input, in one line.
func (c *log) problem(where position, format string, args ...any) {
	c.problems++
	c.raise(exitInput)
	c.say(where, "", format, args...)
}

// warn reports something odd about the input that is put up with, in one line.
func (c *log) warn(where position, format string, args ...any) {
	c.say(where, "warning: ", format, args...)
}

// failed reports an error that is not one of the input.
func (c *log) failed(err error) {
	fmt.Fprintf(c, "deed: %v\n", err)
	c.raise(exitInternal)
}

func (c *log) say(where position, prefix, format string, args ...any) {
	fmt.Fprintf(c, "%v: %s%s\n", where, prefix, oneLine(fmt.Sprintf(format, args...)))
}
