package server

import (
	"context"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
)

// DefaultPast is how much of its past a server keeps unless it is told otherwise: as long as
// kube-apiserver leaves revisions in etcd, but no more than half a GiB in memory.
var DefaultPast = store.Window{Age: 5 * time.Minute, Bytes: 512 << 20}

const (
	// compactEvery is how often the store is asked to forget.
	compactEvery = 10 * time.Second
	// perCompaction is how often it is seen meanwhile whether the past has too many bytes.
	perCompaction = 10
)

// keepPast lets the store forget what leaves the window, until the server ends. What goes wrong is logged
// and tried again: a store that cannot forget still serves.
func (s *Server) keepPast(past store.Window, interval time.Duration) {
	keeper := store.NewKeeper(s.backend.Store, past)
	s.background(func(ctx context.Context) {
		ticker := time.NewTicker(interval / perCompaction)
		defer ticker.Stop()
		for i := 0; ; i++ {
			if i%perCompaction == 0 || keeper.IsFull() {
				if err := keeper.Tick(ctx, s.now()); err != nil && ctx.Err() == nil {
					s.log.Error("the past of the store was not compacted", logs.Fault(err))
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}
