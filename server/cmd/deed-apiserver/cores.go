package main

import (
	"context"
	"os"
	"runtime"
	"time"
)

const (
	// corePeriod is how often the use of the processor is looked at.
	corePeriod = 50 * time.Millisecond
	// full and calm are parts of one core: one that is used more is not enough, and if all of the process use less, it would be.
	full, calm = 0.95, 0.90
	// calmPeriods is how long the process must be calm before it goes back to one core.
	calmPeriods = 20
)

// paceCores keeps the process to one core until ctx is done while one has time left, and lets it have all that it may use when it has
// not. It leaves that to Go if the environment has GOMAXPROCS, or if the system does not tell what the process uses.
//
// A request passes through several goroutines, of net/http and ours. With a second core at hand, Go's scheduler wakes it for each of them
// in turn, and it mostly finds the work done: that is a third of what a get costs, see docs/decisions/0026.
func paceCores(ctx context.Context) {
	if _, ok := spentNow(); ok && os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > 1 {
		go keepPace(ctx, time.Tick(corePeriod), spentNow)
	}
}

// keepPace looks at what the process spends with each tick, and gives it the cores that it needs.
func keepPace(ctx context.Context, ticks <-chan time.Time, now func() (spent, bool)) {
	var c cores
	for before, _ := now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		after, _ := now()
		if c.look(after.since(before)) {
			c.set()
		}
		before = after
	}
}

// spent is what the process has used of the processors until a time.
type spent struct {
	at  time.Time
	cpu time.Duration
}

// since returns what was used since an earlier time, in cores.
func (s spent) since(before spent) float64 {
	return float64(s.cpu-before.cpu) / float64(s.at.Sub(before.at))
}

// cores is how many cores the process uses: one or all.
type cores struct {
	one     bool
	periods int // for so long all cores together did less than one could
}

// look takes what was used in a period, and reports whether the number of cores is another one now.
func (c *cores) look(part float64) bool {
	was := c.one
	switch {
	case c.one:
		c.one = part < full
		c.periods = 0
	case part >= calm:
		c.periods = 0
	default:
		c.periods++
		c.one = c.periods >= calmPeriods
	}
	return c.one != was
}

// set tells Go. All goroutines are stopped for a moment.
func (c *cores) set() {
	if c.one {
		runtime.GOMAXPROCS(1)
		return
	}
	runtime.SetDefaultGOMAXPROCS() // which also follows the limits of a container again
}
