package measure

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// sideOf returns a side whose workers answer text, and count their runs.
func sideOf(text string, runs *int) Side {
	return func() (Worker, error) {
		return Worker{
			Run:    func() error { *runs++; return nil },
			Answer: func() (string, error) { return text, nil },
		}, nil
	}
}

func TestSidesMustAnswerTheSame(t *testing.T) {
	var runs int
	_, err := Compare(sideOf("color", &runs), sideOf("colour", &runs), 1, Plan{Clock: Wall, Pairs: 1})
	var difference *DifferenceError
	if !errors.As(err, &difference) || !strings.Contains(err.Error(), "at byte 4") {
		t.Errorf("error %v, want a difference at byte 4", err)
	}
	if runs != 2 {
		t.Errorf("%d runs, want one of each side: nothing is measured", runs)
	}
}

func TestErrorsOfWorkersEndAMeasurement(t *testing.T) {
	wrong := errors.New("wrong")
	failing := func() (Worker, error) {
		return Worker{Run: func() error { return wrong }, Answer: func() (string, error) { return "", nil }}, nil
	}
	var runs int
	for _, sides := range [][2]Side{{failing, sideOf("", &runs)}, {sideOf("", &runs), failing}} {
		if _, err := Compare(sides[0], sides[1], 2, Plan{Clock: Wall, Pairs: 1}); !errors.Is(err, wrong) {
			t.Errorf("error %v, want %v", err, wrong)
		}
	}
}

// Every run of a worker that needs preparation has been prepared for.
func TestRunsArePrepared(t *testing.T) {
	var ready, most int
	prepared := func() (Worker, error) {
		return Worker{
			Prepare: func(n int) error { ready, most = n, max(most, n); return nil },
			Run: func() error {
				if ready--; ready < 0 {
					return errors.New("not prepared")
				}
				return nil
			},
			Answer: func() (string, error) { return "", nil },
		}, nil
	}
	var runs int
	if _, err := Compare(prepared, sideOf("", &runs), 1, Plan{Clock: Wall, Length: time.Millisecond, Pairs: 2}); err != nil {
		t.Error(err)
	}
	if most > maxPreparedRuns {
		t.Errorf("asked for %d inputs at once, want at most %d", most, maxPreparedRuns)
	}
}

// A clock that preparing moves too shows that only runs are timed, and how many inputs are prepared before them.
func TestPreparingTakesNoTime(t *testing.T) {
	for _, ahead := range []int{0, 1, 3, maxPreparedRuns} {
		var now time.Duration
		most := 0 // inputs at a time while the time is taken, which is after the last count
		side := func() (Worker, error) {
			return Worker{
				Prepare: func(n int) error { now += time.Second; most = n; return nil },
				Run:     func() error { now += 100; return nil },
				Answer:  func() (string, error) { return "", nil },
			}, nil
		}
		plan := Plan{Clock: func() time.Duration { return now }, Length: time.Millisecond, Pairs: 1, Ahead: ahead}
		cost, err := One(side, 1, plan)
		if err != nil || cost.Nanoseconds != 100 {
			t.Errorf("ahead %d: a run takes %v ns, want 100 (%v)", ahead, cost.Nanoseconds, err)
		}
		if want := max(1, ahead); most > want {
			t.Errorf("ahead %d: %d inputs were prepared at a time", ahead, most)
		}
	}
}

// The clock is one that each run moves, so costs are exact.
func TestCostsAreThoseOfOneRun(t *testing.T) {
	var now time.Duration
	sink := make([]byte, 0)
	timed := func(length time.Duration, size int) Side {
		return func() (Worker, error) {
			return Worker{
				Run:    func() error { now += length; sink = make([]byte, size); return nil },
				Answer: func() (string, error) { return "", nil },
			}, nil
		}
	}
	plan := Plan{Clock: func() time.Duration { return now }, Length: 3 * time.Microsecond, Pairs: 3}
	r, err := Compare(timed(100, 1<<10), timed(1500, 1<<12), 1, plan)
	if err != nil {
		t.Fatal(err)
	}
	if r.Deed.Nanoseconds != 100 || r.Peer.Nanoseconds != 1500 || r.Ratio != 15 {
		t.Errorf("deed %v ns, peer %v ns, ratio %v", r.Deed.Nanoseconds, r.Peer.Nanoseconds, r.Ratio)
	}
	if r.Deed.Bytes < 1<<10 || r.Peer.Bytes < 1<<12 || r.Deed.Allocs < 1 {
		t.Errorf("deed %v B in %v allocations, peer %v B", r.Deed.Bytes, r.Deed.Allocs, r.Peer.Bytes)
	}
	_ = sink
}

func TestRetainedCountsWhatResultsKeep(t *testing.T) {
	keeping := func(size int) Side {
		return func() (Worker, error) {
			var kept []byte
			return Worker{
				Run:    func() error { kept = make([]byte, size); return nil },
				Answer: func() (string, error) { return string(kept[:0]), nil },
			}, nil
		}
	}
	r, err := CompareRetained(keeping(1<<16), keeping(1<<18), 20)
	if err != nil {
		t.Fatal(err)
	}
	if r.Deed.Bytes < 1<<16 || r.Deed.Bytes > 1<<17 || r.Ratio < 2 || r.Ratio > 8 {
		t.Errorf("deed keeps %v B, ratio %v", r.Deed.Bytes, r.Ratio)
	}
}

// Growth is the power of the size by which the time of a run grows.
func TestGrowth(t *testing.T) {
	var now time.Duration
	taking := func(d time.Duration) Side {
		return func() (Worker, error) {
			return Worker{Run: func() error { now += d; return nil }, Answer: func() (string, error) { return d.String(), nil }}, nil
		}
	}
	for whole, want := range map[time.Duration]float64{4: 1, 16: 2, 8: 1.5, 1: 0} {
		got, err := Growth(taking(whole*time.Millisecond), taking(time.Millisecond), Plan{Clock: func() time.Duration { return now }, Pairs: 3})
		if err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("from 1 ms to %v ms: %v, want %v (%v)", int(whole), got, want, err)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(c.list); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.list, got, c.want)
		}
	}
}

func TestAllocRatio(t *testing.T) {
	if got := (Result{}).AllocRatio(); got != 1 {
		t.Errorf("%v without allocations, want 1", got)
	}
	if got := (Result{Deed: Cost{Allocs: 2}, Peer: Cost{Allocs: 30}}).AllocRatio(); got != 15 {
		t.Errorf("30 to 2 allocations are %v, want 15", got)
	}
}
