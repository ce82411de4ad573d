// Package jobs does work several at a time, with outcomes in order.
package jobs

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
)

// Map has work done for what in yields, several at a time, and yields what it returns in the same
// order. n is how many there are at a time, 0 for as many as there are processors.
//
// It takes from in only a few ahead of what is yielded, so that a stream of any length needs the
// room of a few, and waits for what has begun when the loop ends early. in is run by the loop
// itself: only work runs beside it. A panic in work becomes one of the loop.
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

// ahead is how many outcomes for each worker may wait for being yielded.
const ahead = 8

// job is work that has begun.
type job[T, U any] struct {
	of   T
	done chan outcome[U]
}

// outcome is what a job returned, or the panic that it ended with.
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
