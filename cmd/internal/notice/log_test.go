package notice

import (
	"bytes"
	"fmt"
	"testing"
)

// TestProgress checks that progress disappears at the end, and that messages stand in lines of their own.
func TestProgress(t *testing.T) {
	var screen bytes.Buffer
	c := &Log{Err: &screen, shows: true}
	tick, done := c.Progress("applying")
	for range firstShown {
		tick()
	}
	fmt.Fprintln(c, "a message")
	c.shown = true
	done()
	if got, want := screen.String(), fmt.Sprintf("applying: %d\r\x1b[Ka message\n\r\x1b[K", firstShown); got != want {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

// TestNoProgress checks that progress is not shown without a terminal.
func TestNoProgress(t *testing.T) {
	var stderr bytes.Buffer
	tick, done := NewLog(&stderr, &stderr).Progress("applying")
	for range 10 * firstShown {
		tick()
	}
	done()
	if stderr.Len() > 0 {
		t.Errorf("standard error is no terminal, but has %q", &stderr)
	}
}
