// Package jobs processes items concurrently and returns the outcomes in order.
package jobs

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
)

// Map calls work for the items of in, n at a time, and yields the results in the order of in. If n is 0, it uses the number of processors.
//
// Map takes only a few items ahead of the yielded ones, so that a stream of any length needs little memory. If the loop ends early, Map
// waits for the running work. The loop itself runs in: only work runs concurrently. A panic in work becomes a panic of the loop.
func Map[T, U any](n int, in iter.Seq[T], work func(T) U) iter.Seq2[T, U] {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return func(yield func(T, U) bool) {
		var begun []job[T, U] // in order; at most ahead*n
		running := make(chan struct{}, n)
		defer func() {
			for _, j := range begun {
				<-j.done
			}
		}()
		next := func() bool {
			j := begun[0]
			out := <-j.done
			begun = begun[1:]
			if out.panic != "" {
				panic(out.panic)
			}
			return yield(j.of, out.value)
		}
		for t := range in {
			j := job[T, U]{t, make(chan outcome[U], 1)}
			begun = append(begun, j)
			go func() {
				running <- struct{}{}
				out := attempt(t, work)
				<-running
				j.done <- out
			}()
			if len(begun) == ahead*n && !next() {
				return
			}
		}
		for len(begun) > 0 {
			if !next() {
				return
			}
		}
	}
}

// ahead is the number of outcomes per worker that may wait to be yielded.
const ahead = 8

// job is work that has started.
type job[T, U any] struct {
	of   T
	done chan outcome[U]
}

// outcome is the result of a job, or the panic that ended it.
type outcome[U any] struct {
	value U
	panic string
}

func attempt[T, U any](t T, work func(T) U) (out outcome[U]) {
	defer func() {
		if x := recover(); x != nil {
			out.panic = fmt.Sprintf("%v\n%s", x, debug.Stack())
		}
	}()
	return outcome[U]{value: work(t)}
}
