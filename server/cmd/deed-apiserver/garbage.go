package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// roomAtLeast is how much the heap may grow before garbage is collected: so much that a small heap, which Go would let grow by its
	// own size, is not collected several times a second.
	roomAtLeast = 64 << 20
	// roomAtMost is how much a large heap may grow, unless a part of it, roomPart, is more: less than its own size, because most of it
	// are stored texts, which cost memory and little time to collect.
	roomAtMost = 256 << 20
	roomPart   = 4
	// smallest is the heap that Go takes for one that is smaller: it lets that grow by so many percent.
	smallest = 4 << 20
)

// paceGarbage lets the heap of the process grow by what suits its size before garbage is collected, from now on: a server that starts is
// there before that is for the first time. It leaves that to Go if the environment has GOGC.
func paceGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	pace := func() { debug.SetGCPercent(roomFor(liveHeap())) }
	pace()
	afterCollection(pace)
}

// roomFor returns the room for a heap of which so many bytes are in use, in percent of that.
func roomFor(live uint64) int {
	room := min(max(roomAtLeast, live), max(roomAtMost, live/roomPart))
	return int(room * 100 / max(smallest, live))
}

// liveHeap returns how many bytes of the heap the last collection left.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// afterCollection calls f after each collection of garbage.
func afterCollection(f func()) {
	garbage := new([16]byte)
	runtime.AddCleanup(garbage, func(struct{}) {
		f()
		afterCollection(f)
	}, struct{}{})
}
