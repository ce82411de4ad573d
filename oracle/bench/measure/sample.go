package measure

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Cost is what one operation takes.
type Cost struct {
	Nanoseconds float64
	Allocs      float64
	Bytes       float64 // allocated; or kept, see [Retained]
}

// sample lets each worker run n times, all at once, and returns the cost of one run. With several workers, that is the time
// from start to end divided by the number of runs of all of them.
//
// Garbage is collected whenever it falls due, and not between samples: so a side pays for collection by the bytes that it
// allocates, as long as a sample is long enough for some rounds of it. Samples of workers that prepare inputs are not: see
// preparedSample.
func sample(clock Clock, workers []Worker, n int) (Cost, error) {
	if workers[0].Prepare != nil {
		return preparedSample(clock, workers, n)
	}
	return plainSample(clock, workers, n)
}

// preparedSample is sample for workers that prepare inputs. Preparing takes longer than a sample and leaves more garbage, whose
// collection would be charged to the sample. So no garbage is collected during the sample. One collection is timed after
// it, and the sample pays for a part of that: the bytes that it allocated, divided by those after which Go collects a heap of
// this size.
func preparedSample(clock Clock, workers []Worker, n int) (Cost, error) {
	for _, w := range workers {
		if err := w.prepare(n); err != nil {
			return Cost{}, err
		}
	}
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	runtime.GC()
	cost, err := plainSample(clock, workers, n)
	begin := clock()
	runtime.GC()
	collection := float64((clock() - begin).Nanoseconds())
	var live runtime.MemStats
	runtime.ReadMemStats(&live)
	if percent > 0 {
		cost.Nanoseconds += collection * cost.Bytes / (float64(live.HeapAlloc) * float64(percent) / 100)
	}
	return cost, err
}

// plainSample is sample for workers whose inputs are ready.
func plainSample(clock Clock, workers []Worker, n int) (Cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := clock()
	err := run(workers, n)
	elapsed := clock() - begin
	runtime.ReadMemStats(&after)
	runs := float64(n * len(workers))
	return Cost{
		Nanoseconds: float64(elapsed.Nanoseconds()) / runs,
		Allocs:      float64(after.Mallocs-before.Mallocs) / runs,
		Bytes:       float64(after.TotalAlloc-before.TotalAlloc) / runs,
	}, err
}

func run(workers []Worker, n int) error {
	if len(workers) == 1 {
		return repeat(workers[0], n)
	}
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() { errs[i] = repeat(w, n) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func repeat(w Worker, n int) error {
	for range n {
		if err := w.Run(); err != nil {
			return err
		}
	}
	return nil
}

// runsFor lets workers meet their inputs. It returns how often they have to run for a sample of the given length, at least once and
// at most limit times.
func runsFor(clock Clock, workers []Worker, length time.Duration, limit int) (int, error) {
	if length == 0 {
		return 1, nil
	}
	for _, w := range workers {
		if err := w.meetInputs(); err != nil {
			return 0, err
		}
	}
	for n := 1; ; n = min(n*4, limit) {
		cost, err := sample(clock, workers, n)
		if err != nil {
			return 0, err
		}
		all := time.Duration(cost.Nanoseconds * float64(n*len(workers)))
		if n == limit || all >= length {
			return n, nil
		}
		if all >= length/4 {
			return min(limit, int(float64(n)*float64(length)/float64(all))+1), nil
		}
	}
}
