// Package controllers has what a server does beside requests. Each controller brings what is served, or what is stored, in line with stored
// objects:
//
//	[Definitions]  serves the resources of CustomResourceDefinitions, and writes their status
//	[Deletions]    deletes the objects of definitions and namespaces that are being deleted, and then these
//	[Webhooks]     compiles the configurations of admission webhooks
//	[Policies]     reads admission policies and their bindings
//	[Aggregation]  gives ClusterRoles the rules of the roles that they select
//	[Compaction]   forgets old revisions of the store
//
// Controllers change objects through a [loopback.Client], as every client does.
package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/deed-project/deed/server/logs"
)

// Background runs the goroutines of a server. The zero Background is not ready: use NewBackground.
//
// Invariant: once Stop has returned, no goroutine of it runs, and none begins. Go holds starting for reading. So Stop does not wait before
// a goroutine that begins is counted.
type Background struct {
	log logs.Logger

	starting sync.RWMutex // is held while a goroutine starts, and while Stop begins
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// NewBackground returns a Background without goroutines.
func NewBackground(log logs.Logger) *Background {
	b := &Background{log: log}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b
}

// Context returns the context of the goroutines. It ends when Stop is called.
func (b *Background) Context() context.Context { return b.ctx }

// Go runs f in a goroutine, unless Stop was called.
func (b *Background) Go(f func(context.Context)) {
	b.starting.RLock()
	defer b.starting.RUnlock()
	if b.ctx.Err() == nil {
		b.running.Go(func() { f(b.ctx) })
	}
}

// Every calls f from time to time in a goroutine, the first time after one interval, until Stop is called.
func (b *Background) Every(interval time.Duration, f func(context.Context)) {
	b.Go(func(ctx context.Context) {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				f(ctx)
			}
		}
	})
}

// Stop ends the context of the goroutines and waits for them.
func (b *Background) Stop() {
	b.starting.Lock()
	b.cancel()
	b.starting.Unlock()
	b.running.Wait()
}

// Report logs an error of work in the background, unless the server is ending. what names the work.
//
// Work that a server's end interrupts fails as a rule, and says nothing about the server.
func (b *Background) Report(what string, err error) {
	if err != nil && b.ctx.Err() == nil {
		b.log.Error("work in the background failed", logs.Name("what", what), logs.Fault(err))
	}
}
