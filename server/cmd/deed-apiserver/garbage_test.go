package main

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestRoom gives a small heap much room in proportion, one of some size its own size, and a large one little.
func TestRoom(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 1600, 1 << 20: 1600, 4 << 20: 1600, 32 << 20: 200, 64 << 20: 100, 128 << 20: 100, 256 << 20: 100, 512 << 20: 50, 1 << 30: 25, 4 << 30: 25,
	} {
		if got := roomFor(live); got != want {
			t.Errorf("a heap of %d bytes may grow by %d %%, want %d", live, got, want)
		}
	}
}

// TestAfterCollection is told of collections, again and again.
func TestAfterCollection(t *testing.T) {
	var told atomic.Int64
	var done atomic.Bool
	afterCollection(func() {
		if !done.Load() {
			told.Add(1)
		}
	})
	for begun := time.Now(); told.Load() < 3; runtime.GC() {
		if time.Since(begun) > time.Minute {
			t.Fatalf("it was told of %d collections", told.Load())
		}
	}
	done.Store(true)
	if liveHeap() == 0 {
		t.Error("nothing is in use")
	}
}
