package controllers

import (
	"context"
	"errors"
	"sync"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// configurations gives the stored objects of some resources to an admission plugin, once it has started. The zero configurations has not.
type configurations struct {
	mu      sync.Mutex // is held while the objects are read and used
	started bool       // guarded by mu
}

// start makes sync read objects.
func (c *configurations) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started = true
}

// sync reads all objects of the resources of a group, and calls use with those that could be read. It does nothing before start.
func (c *configurations) sync(ctx context.Context, s store.Store, served *catalog.Catalog, group string, resources []string, use func([]value.Value) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started {
		return nil
	}
	var stored []value.Value
	var errs []error
	for _, name := range resources {
		r := served.Lookup(group, name)
		if r == nil { // the emulated release does not have the kind
			continue
		}
		found, err := registry.Objects(ctx, s, r)
		stored, errs = append(stored, found...), append(errs, err)
	}
	return errors.Join(append(errs, use(stored))...)
}
