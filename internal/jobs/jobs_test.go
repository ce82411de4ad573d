package jobs

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

func TestInOrder(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 100} {
		for _, n := range []int{0, 1, 2, 47, 1000} {
			next := 0
			for i, square := range InOrder(jobs, n, func(i int) int { return i * i }) {
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

// TestInOrderEndsEarly wants that nothing runs any more when the loop has ended, and that most was never begun.
func TestInOrderEndsEarly(t *testing.T) {
	var begun, running atomic.Int32
	for i := range InOrder(2, 100_000, func(i int) int {
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

func TestInOrderPanics(t *testing.T) {
	defer func() {
		if x := fmt.Sprint(recover()); !strings.HasPrefix(x, "out of luck\n") || !strings.Contains(x, "jobs_test.go") {
			t.Errorf("recovered %q, want the panic of the job with its stack", x)
		}
	}()
	for i := range InOrder(2, 10, func(i int) int {
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
