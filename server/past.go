package server

import (
	"context"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
)

// DefaultPast is how much of its past a server keeps unless it is told otherwise: as long as
// kube-apiserver leaves revisions in etcd.
var DefaultPast = store.Window{Age: 5 * time.Minute}

// compactEvery is how often the store is asked to forget.
const compactEvery = 10 * time.Second

// keepPast lets the store forget what leaves the window, until the server ends. What goes wrong is logged
// and tried again: a store that cannot forget still serves.
func (s *Server) keepPast(past store.Window, interval time.Duration) {
	keeper := store.NewKeeper(s.backend.Store, past)
	s.background(func(ctx context.Context) {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			if err := keeper.Tick(ctx, s.now()); err != nil && ctx.Err() == nil {
				s.log.Error("the past of the store was not compacted", logs.Fault(err))
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}
