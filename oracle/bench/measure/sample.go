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
func (p Plan) sample(workers []Worker, n int) (Cost, error) {
	if workers[0].Prepare != nil {
		return p.preparedSample(workers, n)
	}
	return p.plainSample(workers, n)
}

// preparedSample is sample for workers that prepare inputs. It runs them twice: once to count allocations, with all inputs prepared
// before, since a count stops the process; and once for the time, with Ahead inputs prepared at a time.
//
// Preparing takes longer than a run and leaves more garbage, whose collection would be charged to the sample. So no garbage is
// collected during the sample. One collection is timed after it, and the sample pays for a part of that: the bytes that it
// allocated, divided by those after which Go collects a heap of this size.
func (p Plan) preparedSample(workers []Worker, n int) (Cost, error) {
	percent := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(percent)
	if err := prepare(workers, n); err != nil {
		return Cost{}, err
	}
	runtime.GC()
	cost, err := p.plainSample(workers, n)
	if err != nil {
		return Cost{}, err
	}
	runtime.GC()
	spent, err := p.preparedTime(workers, n)
	if err != nil {
		return Cost{}, err
	}
	begin := p.Clock()
	runtime.GC()
	collection := float64((p.Clock() - begin).Nanoseconds())
	var live runtime.MemStats
	runtime.ReadMemStats(&live)
	cost.Nanoseconds = float64(spent.Nanoseconds()) / float64(n*len(workers))
	if percent > 0 {
		cost.Nanoseconds += collection * cost.Bytes / (float64(live.HeapAlloc) * float64(percent) / 100)
	}
	return cost, nil
}

// preparedTime returns the time of n runs of each worker, without that of their preparation.
func (p Plan) preparedTime(workers []Worker, n int) (spent time.Duration, err error) {
	for left := n; left > 0; left -= p.ahead() {
		some := min(left, p.ahead())
		if err := prepare(workers, some); err != nil {
			return spent, err
		}
		begin := p.Clock()
		if err := run(workers, some); err != nil {
			return spent, err
		}
		spent += p.Clock() - begin
	}
	return spent, nil
}

func prepare(workers []Worker, n int) error {
	for _, w := range workers {
		if err := w.prepare(n); err != nil {
			return err
		}
	}
	return nil
}

// plainSample is sample for workers whose inputs are ready.
func (p Plan) plainSample(workers []Worker, n int) (Cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := p.Clock()
	err := run(workers, n)
	elapsed := p.Clock() - begin
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

// runsFor lets workers meet their inputs. It returns how often they have to run for a sample of the plan's length, at least once and
// at most limit times.
func (p Plan) runsFor(workers []Worker, limit int) (int, error) {
	if p.Length == 0 {
		return 1, nil
	}
	for _, w := range workers {
		if err := w.meetInputs(); err != nil {
			return 0, err
		}
	}
	for n := 1; ; n = min(n*4, limit) {
		cost, err := p.sample(workers, n)
		if err != nil {
			return 0, err
		}
		all := time.Duration(cost.Nanoseconds * float64(n*len(workers)))
		if n == limit || all >= p.Length {
			return n, nil
		}
		if all >= p.Length/4 {
			return min(limit, int(float64(n)*float64(p.Length)/float64(all))+1), nil
		}
	}
}
