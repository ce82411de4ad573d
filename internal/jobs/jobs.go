// Package jobs does work several at a time, with outcomes in order.
package jobs

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"sync"
)

// InOrder has work(0) to work(n-1) done, several at a time, and yields what they return in that order. jobs is how many
// there are at a time, 0 for as many as there are processors. It keeps only a few outcomes ahead of what is yielded, and
// waits for what has begun when the loop ends early. A panic in work becomes one of the loop.
func InOrder[T any](jobs, n int, work func(int) T) iter.Seq2[int, T] {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return func(yield func(int, T) bool) {
		slots := make([]chan outcome[T], min(n, 16*jobs))
		for i := range slots {
			slots[i] = make(chan outcome[T], 1)
		}
		tasks := make(chan int, len(slots))
		var workers sync.WaitGroup
		for range min(jobs, n) {
			workers.Go(func() {
				for i := range tasks {
					slots[i%len(slots)] <- attempt(i, work)
				}
			})
		}
		defer func() {
			close(tasks)
			workers.Wait()
		}()
		for i := range slots {
			tasks <- i
		}
		for i := range n {
			out := <-slots[i%len(slots)]
			if out.panic != "" {
				panic(out.panic)
			}
			if !yield(i, out.value) {
				return
			}
			if next := i + len(slots); next < n {
				tasks <- next
			}
		}
	}
}

// outcome is what a job returned, or the panic that it ended with.
type outcome[T any] struct {
	value T
	panic string
}

func attempt[T any](i int, work func(int) T) (out outcome[T]) {
	defer func() {
		if x := recover(); x != nil {
			out.panic = fmt.Sprintf("%v\n%s", x, debug.Stack())
		}
	}()
	return outcome[T]{value: work(i)}
}
