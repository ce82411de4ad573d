package cli

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// fewObjects are so few that they are done before a bar can be read.
const fewObjects = 100

// progress shows on standard error how many of n steps are done, when that is a terminal and standard output is not: what
// runs over a terminal is progress enough. tick is called after each step, and done at the end. What is written to c.err in
// between stands above the bar.
func (c *cli) progress(what string, n int) (tick, done func()) {
	if n < fewObjects || !isTerminal(c.err) || isTerminal(c.out) || os.Getenv("TERM") == "dumb" {
		return func() {}, func() {}
	}
	return c.bar(what, n)
}

func isTerminal(x any) bool {
	file, ok := x.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (c *cli) bar(what string, n int) (tick, done func()) {
	screen := c.err
	bar := progressbar.NewOptions(n,
		progressbar.OptionSetWriter(screen), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	c.err = &aboveBar{screen, bar}
	tick = func() { ignore(bar.Add(1)) }
	return tick, func() {
		ignore(bar.Finish())
		c.err = screen
	}
}

// aboveBar writes to where a progress bar is, which it takes away first. The next tick shows it again.
type aboveBar struct {
	io.Writer
	bar *progressbar.ProgressBar
}

// Write implements [io.Writer].
func (a *aboveBar) Write(p []byte) (int, error) {
	ignore(a.bar.Clear())
	return a.Writer.Write(p)
}

// ignore says that a bar that cannot be shown is no error.
func ignore(error) {}
