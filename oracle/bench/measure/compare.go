package measure

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// Plan says how to measure.
type Plan struct {
	Clock  Clock
	Length time.Duration // of a sample, at least; 0 makes every sample a single run
	Pairs  int           // of samples
	Ahead  int           // inputs that are prepared before as many runs, 1 if it is 0; a run after many finds its inputs in no cache
}

func (p Plan) ahead() int { return max(1, p.Ahead) }

// maxRuns is how often a worker runs in a sample: more where it needs no preparation.
const (
	maxRuns         = 1 << 22
	maxPreparedRuns = 1 << 8
)

// Result is what both sides of a comparison cost.
type Result struct {
	Deed, Peer Cost
	Ratio      float64 // of peer's time to deed's
}

// AllocRatio returns the ratio of peer's allocations to deed's. It is infinite when only deed has none, and 1 when both
// have none.
func (r Result) AllocRatio() float64 {
	if r.Deed.Allocs == 0 && r.Peer.Allocs == 0 {
		return 1
	}
	return r.Peer.Allocs / r.Deed.Allocs
}

// Compare measures deed and peer side by side, each with the given number of workers at once. Before and after, it makes
// sure that they answer the same: the error is a [*DifferenceError] if not, or else what a worker returns.
func Compare(deed, peer Side, workers int, plan Plan) (Result, error) {
	ours, err := deed.workers(workers)
	if err != nil {
		return Result{}, err
	}
	theirs, err := peer.workers(workers)
	if err != nil {
		return Result{}, err
	}
	if err := sameAnswers(ours[0], theirs[0]); err != nil {
		return Result{}, err
	}
	costs, err := alternately(ours, theirs, plan)
	if err != nil {
		return Result{}, err
	}
	if ours[0].Prepare == nil { // else the last inputs of the sides are not the same
		err = sameAnswers(ours[0], theirs[0])
	}
	return Result{Deed: typical(costs[0]), Peer: typical(costs[1]), Ratio: ratio(costs[0], costs[1])}, err
}

// Growth returns the exponent by which the time of a side grows from a quarter of its size: 1 is linear. Samples of both sizes are
// taken in turn, so that what else the machine does weighs on both.
func Growth(whole, quarter Side, plan Plan) (float64, error) {
	large, err := whole.workers(1)
	if err != nil {
		return 0, err
	}
	small, err := quarter.workers(1)
	if err != nil {
		return 0, err
	}
	costs, err := alternately(small, large, plan)
	if err != nil {
		return 0, err
	}
	return math.Log(ratio(costs[0], costs[1])) / math.Log(4), nil
}

// alternately takes samples of both in turn.
func alternately(first, second []Worker, plan Plan) (costs [2][]Cost, err error) {
	runtime.GC() // of what earlier measurements left
	var runs [2]int
	both := [2][]Worker{first, second}
	for i, side := range both {
		if runs[i], err = plan.runsFor(side, limit(side[0])); err != nil {
			return costs, err
		}
	}
	for range plan.Pairs {
		for i, side := range both {
			cost, err := plan.sample(side, runs[i])
			if err != nil {
				return costs, err
			}
			costs[i] = append(costs[i], cost)
		}
	}
	return costs, nil
}

// One measures side alone, and no longer than the given time.
func One(side Side, workers int, plan Plan) (Cost, error) {
	all, err := side.workers(workers)
	if err != nil {
		return Cost{}, err
	}
	runs, err := plan.runsFor(all, limit(all[0]))
	if err != nil {
		return Cost{}, err
	}
	var costs []Cost
	for range plan.Pairs {
		cost, err := plan.sample(all, runs)
		if err != nil {
			return Cost{}, err
		}
		costs = append(costs, cost)
	}
	return typical(costs), nil
}

func limit(w Worker) int {
	if w.Prepare != nil {
		return maxPreparedRuns
	}
	return maxRuns
}

// typical returns the median time of costs, and the fewest allocations: whatever else the process does only adds to them.
func typical(costs []Cost) Cost {
	out := Cost{Allocs: math.Inf(1), Bytes: math.Inf(1)}
	var times []float64
	for _, c := range costs {
		times = append(times, c.Nanoseconds)
		out.Allocs, out.Bytes = min(out.Allocs, c.Allocs), min(out.Bytes, c.Bytes)
	}
	out.Nanoseconds = median(times)
	return out
}

// ratio returns the median ratio of peer's to deed's time among samples taken next to each other.
func ratio(deed, peer []Cost) float64 {
	ratios := make([]float64, len(deed))
	for i := range ratios {
		ratios[i] = peer[i].Nanoseconds / max(deed[i].Nanoseconds, 1e-3) // a clock may stand still in a short sample
	}
	return median(ratios)
}

// median returns the middle of list, and the mean of both middles where there are two.
func median(list []float64) float64 {
	slices.Sort(list)
	return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
}
