package main

import (
	"runtime"
	"testing"
	"time"
)

// TestCores follows a process through its day.
func TestCores(t *testing.T) {
	c := cores{}
	for i, step := range []struct {
		part    float64 // of a core
		periods int
		one     bool // afterwards
	}{
		{0, calmPeriods - 1, false},
		{0, 1, true}, // calm for long enough
		{0.9, 100, true},
		{0.94, 100, true}, // busy, with time left
		{0.96, 1, false},  // one core is not enough
		{0.91, 100, false},
		{0.89, calmPeriods - 1, false},
		{1.5, 1, false}, // calm no more
		{0.89, calmPeriods - 1, false},
		{0.89, 1, true},
	} {
		for n := range step.periods {
			was := c.one
			if changed := c.look(step.part); changed != (c.one != was) {
				t.Fatalf("step %d, %d: changed: %t, from %t to %t", i, n, changed, was, c.one)
			}
		}
		if c.one != step.one {
			t.Fatalf("step %d: one core: %t", i, c.one)
		}
	}
}

// TestKeepPace takes all cores but one of a process that is calm, and gives them back when it is busy.
func TestKeepPace(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("this machine has one core")
	}
	defer runtime.SetDefaultGOMAXPROCS()
	ticks := make(chan time.Time)
	var now spent
	read := make(chan spent)
	go keepPace(t.Context(), ticks, func() (spent, bool) { return <-read, true })
	read <- now
	pass := func(periods int, part float64) {
		for range periods {
			now.at, now.cpu = now.at.Add(time.Second), now.cpu+time.Duration(part*float64(time.Second))
			ticks <- now.at
			read <- now
		}
	}
	expect := func(want int) {
		t.Helper()
		ticks <- now.at // comes back when all before is done
		if got := runtime.GOMAXPROCS(0); got != want {
			t.Errorf("the process has %d cores, want %d", got, want)
		}
		now.at = now.at.Add(time.Second)
		read <- now
	}
	expect(all)
	pass(calmPeriods, 0.1)
	expect(1)
	pass(1, 0.99)
	expect(all)
}

// TestSpent sees that to count takes time.
func TestSpent(t *testing.T) {
	before, ok := spentNow()
	if !ok {
		t.Skip("the system does not tell what a process uses")
	}
	for begun := time.Now(); ; {
		if after, _ := spentNow(); after.cpu > before.cpu && after.at.After(before.at) {
			return
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("nothing was spent in a minute of work")
		}
	}
}
