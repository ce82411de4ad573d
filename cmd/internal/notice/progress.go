package notice

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// NewLog returns a log that writes messages to err, the standard error of a command. out is its standard output. Progress is shown if err
// is a terminal and out is not, because an answer on a terminal shows the progress itself.
func NewLog(err, out io.Writer) *Log {
	return &Log{Err: err, shows: IsTerminal(err) && !IsTerminal(out) && os.Getenv("TERM") != "dumb"}
}

// IsTerminal reports whether x is a file that is a terminal.
func IsTerminal(x any) bool {
	file, ok := x.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// The limits of progress: the first step that shows it, and the time between two updates.
const (
	firstShown = 100
	shownEvery = 100 * time.Millisecond
)

// clearLine clears the current line of a terminal.
const clearLine = "\r\x1b[K"

// Progress shows the number of calls of tick, in a line that messages clear and done ends. what names the work.
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

// clear clears the line of progress.
func (c *Log) clear() {
	if c.shown {
		c.shown = false
		fmt.Fprint(c.Err, clearLine)
	}
}
