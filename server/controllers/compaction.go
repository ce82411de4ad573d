package controllers

import (
	"context"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
)

const (
	// compactInterval is how often the store is compacted.
	compactInterval = 10 * time.Second
	// checksPerCompaction is how often in that time the size of the past is compared with the window.
	checksPerCompaction = 10
)

// Compaction forgets the revisions of a store that are outside of a window. An error is logged, and compaction is tried again.
//
// The history grows with time and with bytes. Time is looked at once in an interval, and bytes more often: many writes of large objects may
// fill the window within seconds.
type Compaction struct {
	Store    store.Store
	Window   store.Window
	Now      func() time.Time
	Log      logs.Logger
	Interval time.Duration // 0 is ten seconds
}

// Run compacts the store until ctx ends.
//
// The keeper belongs to this goroutine, and forgets its samples with it.
func (c Compaction) Run(ctx context.Context) {
	keeper, interval := store.NewKeeper(c.Store, c.Window), c.Interval
	if interval == 0 {
		interval = compactInterval
	}
	ticker := time.NewTicker(interval / checksPerCompaction)
	defer ticker.Stop()
	for i := 0; ; i++ {
		if i%checksPerCompaction == 0 || keeper.IsFull() {
			if err := keeper.Tick(ctx, c.Now()); err != nil && ctx.Err() == nil {
				c.Log.Error("the past of the store was not compacted", logs.Fault(err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
