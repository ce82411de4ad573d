package measure

import "runtime"

// Retained returns how many bytes of memory the result of one run keeps from being collected: the mean over the given number
// of runs, each by a worker of its own that is not let go.
func Retained(side Side, runs int) (Cost, error) {
	kept := make([]Worker, runs)
	before := heap()
	for i := range kept {
		w, err := side()
		if err != nil {
			return Cost{}, err
		}
		if err := w.Run(); err != nil {
			return Cost{}, err
		}
		kept[i] = w
	}
	after := heap()
	runtime.KeepAlive(kept)
	return Cost{Bytes: float64(after-before) / float64(runs)}, nil
}

// CompareRetained is [Compare] for what results keep in memory. The ratio is that of bytes.
func CompareRetained(deed, peer Side, runs int) (Result, error) {
	ours, err := deed.workers(1)
	if err != nil {
		return Result{}, err
	}
	theirs, err := peer.workers(1)
	if err != nil {
		return Result{}, err
	}
	if err := sameAnswers(ours[0], theirs[0]); err != nil {
		return Result{}, err
	}
	var r Result
	if r.Deed, err = Retained(deed, runs); err != nil {
		return Result{}, err
	}
	if r.Peer, err = Retained(peer, runs); err != nil {
		return Result{}, err
	}
	r.Ratio = r.Peer.Bytes / r.Deed.Bytes
	return r, nil
}

// heap returns how many bytes are in use once everything unused is collected.
func heap() uint64 {
	var stats runtime.MemStats
	for range 2 { // finalizers and pools let go of what they hold in the second round
		runtime.GC()
	}
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
