package controllers

import (
	"context"

	"github.com/deed-project/deed/server/admission/policy"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry/policies"
	"github.com/deed-project/deed/server/store"
)

// Policies reads the stored admission policies and bindings.
type Policies struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Plugin  *policy.Policies // gets what is read

	stored configurations
}

// Start reads the policies for the first time. Until then none is enforced: not for the objects that the server starts with.
func (c *Policies) Start(ctx context.Context) error {
	c.stored.start()
	return c.Sync(ctx)
}

// Sync reads all policies and bindings. The cost grows with their number and size.
//
// A policy that cannot be read is part of the error, and the others are used.
func (c *Policies) Sync(ctx context.Context) error {
	return c.stored.sync(ctx, c.Store, c.Catalog(), policies.Group, policies.Resources, c.Plugin.Use)
}
