package controllers

import (
	"context"
	"fmt"

	"github.com/deed-project/deed/server/admission/webhook"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry/webhooks"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// Webhooks compiles the stored configurations of admission webhooks, beside those that are fixed.
//
// Its exported fields are set before Fix. fixed does not change after Start.
type Webhooks struct {
	Store   store.Store
	Catalog func() *catalog.Catalog
	Hooks   *webhook.Hooks // gets what is compiled

	fixed  []value.Value
	stored configurations
}

// Fix adds configurations that hold beside the stored ones, and come first. version returns the version that serves the kind of an object.
// It is to be called before Start.
//
// They are compiled here only to find errors early; Sync compiles them again with the stored ones.
func (c *Webhooks) Fix(configurations []value.Value, version func(value.Value) (*catalog.Version, error)) error {
	for i, configuration := range configurations {
		v, err := version(configuration)
		if err != nil || v.Group != webhooks.Group {
			return fmt.Errorf("admission configuration %d, %s %s, is no configuration of webhooks", i, configuration.Get("kind").Str(),
				configuration.Get("metadata", "name").Str())
		}
		complete, _, err := v.Form.Decode(configuration)
		if err == nil {
			_, err = webhook.Compile(complete)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", v.Kind, configuration.Get("metadata", "name").Str(), err)
		}
		c.fixed = append(c.fixed, complete)
	}
	return nil
}

// Start compiles the configurations for the first time. Until then no webhook is called: not for the objects that the server starts with.
func (c *Webhooks) Start(ctx context.Context) error {
	c.stored.start()
	return c.Sync(ctx)
}

// Sync compiles all configurations. The cost grows with their number and size.
//
// A configuration that does not compile is part of the error, and the others are used.
func (c *Webhooks) Sync(ctx context.Context) error {
	return c.stored.sync(ctx, c.Store, c.Catalog(), webhooks.Group, webhooks.Resources, func(stored []value.Value) error { return c.Hooks.Use(c.fixed, stored) })
}
