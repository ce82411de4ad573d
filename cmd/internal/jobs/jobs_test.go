package jobs

import (
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
)

func upTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func TestMap(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 100} {
		for _, n := range []int{0, 1, 2, 47, 1000} {
			next := 0
			for i, square := range Map(jobs, upTo(n), func(i int) int { return i * i }) {
				if i != next || square != i*i {
					t.Fatalf("%d jobs: outcome %d of %d is %d, want that of %d", jobs, i, n, square, next)
				}
				next++
			}
			if next != n {
				t.Errorf("%d jobs: %d outcomes, want %d", jobs, next, n)
			}
		}
	}
}

// TestMapTakesFewAhead checks that Map takes only a few items ahead of the yielded ones, and processes at most n at a time.
func TestMapTakesFewAhead(t *testing.T) {
	const jobs = 2
	var running, most atomic.Int32
	taken, yielded := 0, 0
	in := func(yield func(int) bool) {
		for i := range upTo(10_000) {
			if taken++; taken > yielded+ahead*jobs {
				t.Fatalf("%d are taken when %d are yielded", taken, yielded)
			}
			if !yield(i) {
				return
			}
		}
	}
	for range Map(jobs, in, func(i int) int {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		return i
	}) {
		yielded++
	}
	if most.Load() > jobs {
		t.Errorf("%d at a time, want %d", most.Load(), jobs)
	}
}

// TestMapEndsEarly checks that no work runs after the loop has ended, and that most of it has never started.
func TestMapEndsEarly(t *testing.T) {
	var begun, running atomic.Int32
	for i := range Map(2, upTo(100_000), func(i int) int {
		begun.Add(1)
		running.Add(1)
		defer running.Add(-1)
		return i
	}) {
		if i == 10 {
			break
		}
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d jobs still run", n)
	}
	if n := begun.Load(); n > 100 {
		t.Errorf("%d jobs were begun", n)
	}
}

func TestMapPanics(t *testing.T) {
	defer func() {
		if x := fmt.Sprint(recover()); !strings.HasPrefix(x, "out of luck\n") || !strings.Contains(x, "jobs_test.go") {
			t.Errorf("recovered %q, want the panic of the job with its stack", x)
		}
	}()
	for i := range Map(2, upTo(10), func(i int) int {
		if i == 3 {
			panic("out of luck")
		}
		return i
	}) {
		if i >= 3 {
			t.Errorf("there is an outcome %d", i)
		}
	}
}
