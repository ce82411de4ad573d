package notice

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// NewLog returns the log that writes messages to err, the standard error of a command whose answer
// goes to out. Progress is shown when err is a terminal and out is not: an answer that runs over a
// terminal is progress enough.
func NewLog(err, out io.Writer) *Log {
	return &Log{Err: err, shows: IsTerminal(err) && !IsTerminal(out) && os.Getenv("TERM") != "dumb"}
}

// IsTerminal reports whether x is a file that is a terminal.
func IsTerminal(x any) bool {
	file, ok := x.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// How often progress is shown: not before this many steps, and with this much time in between.
const (
	firstShown = 100
	shownEvery = 100 * time.Millisecond
)

// clearLine takes away what the line of a terminal shows.
const clearLine = "\r\x1b[K"

// Progress shows how often tick was called, in a line that messages take away and done ends. what
// says what is done.
func (c *Log) Progress(what string) (tick, done func()) {
	n, last := 0, time.Time{}
	tick = func() {
		if n++; c.shows && n >= firstShown && time.Since(last) >= shownEvery {
			last = time.Now()
			c.clear()
			fmt.Fprintf(c.Err, "%s: %d", what, n)
			c.shown = true
		}
	}
	return tick, c.clear
}

// clear takes away the line that shows progress.
func (c *Log) clear() {
	if c.shown {
		c.shown = false
		fmt.Fprint(c.Err, clearLine)
	}
}
