package controllers

import (
	"context"
	"errors"
	"sync"

	"github.com/deed-project/deed/server/admission/policy"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/registry/policies"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Policies reads the stored admission policies and bindings.
type Policies struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Plugin  *policy.Policies // gets what is read

	mu      sync.Mutex // is held while policies are read
	started bool       // guarded by mu
}

// Start reads the policies for the first time. Until then none is enforced: not for the objects that the server starts with.
func (c *Policies) Start(ctx context.Context) error {
	c.mu.Lock()
	c.started = true
	c.mu.Unlock()
	return c.Sync(ctx)
}

// Sync reads all policies and bindings. The cost grows with their number and size.
//
// A policy that cannot be read is part of the error, and the others are used.
func (c *Policies) Sync(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started {
		return nil
	}
	var stored []value.Value
	var errs []error
	for _, name := range policies.Resources {
		found, err := registry.Objects(ctx, c.Store, c.Catalog().Lookup(policies.Group, name))
		stored, errs = append(stored, found...), append(errs, err)
	}
	return errors.Join(append(errs, c.Plugin.Use(stored))...)
}
