package server

import (
	"context"
	"time"

	"github.com/deed-project/deed/server/store"
)

// A server that shares its store learns of definitions, and of configurations of webhooks, by watching the store, and not only from
// the requests that it gets itself. Namespaces need no such thing: they are read whenever something is created in one.

const (
	// retry is how long a server waits before it follows the store again that failed.
	retry = 500 * time.Millisecond
	// resumeEvery is how often a server looks for deletions that another one began and left.
	resumeEvery = 30 * time.Second
)

// followOthers keeps up with the servers that share the store, until this one ends.
func (s *Server) followOthers() {
	s.follow(s.base[definitionsAt].Prefix, s.settleDefinitions)
	for _, name := range configurationResources {
		s.follow(s.catalog.Load().Lookup(configurationGroup, name).Prefix, s.settleHooks)
	}
	s.background(func(ctx context.Context) {
		ticker := time.NewTicker(resumeEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				s.report("deletions are not resumed", s.resume(ctx))
			}
		}
	})
}

// follow settles what is stored under prefix, and again after each change of it.
func (s *Server) follow(prefix string, settle func(context.Context) error) {
	s.background(func(ctx context.Context) {
		for ctx.Err() == nil {
			s.report("the store cannot be followed", s.followOnce(ctx, prefix, settle))
			select {
			case <-ctx.Done():
			case <-time.After(retry):
			}
		}
	})
}

// followOnce follows until ctx is done or the store fails. What changes while something is settled is settled at once afterwards.
func (s *Server) followOnce(ctx context.Context, prefix string, settle func(context.Context) error) error {
	page, err := s.backend.Store.Range(ctx, store.Range{Prefix: prefix, Limit: 1})
	if err != nil {
		return err
	}
	changes, err := s.backend.Store.Watch(ctx, prefix, page.Revision)
	if err != nil {
		return err
	}
	if err := settle(ctx); err != nil {
		return err
	}
	for batch, err := range changes {
		if err == nil && len(batch.Events) > 0 {
			err = settle(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
