package csa

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/deed-project/deed/kube"
	"github.com/deed-project/deed/kube/inventory"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// InventoryOf returns the inventory that owner records. owner is in a form that [kube.ObjectOf] reads: see [inventory.Of].
func InventoryOf(owner any) (inventory.Inventory, error) {
	o, err := kube.ObjectOf(owner)
	if err != nil {
		return inventory.Inventory{}, err
	}
	return inventory.Of(o)
}

// Client reads and patches objects. Its error for a missing object satisfies apierrors.IsNotFound.
type Client interface {
	// Get returns an object in a form that [kube.ObjectOf] reads.
	Get(ctx context.Context, r inventory.Reference) (any, error)
	// Patch applies a JSON patch (RFC 6902).
	Patch(ctx context.Context, r inventory.Reference, patch []byte) error
}

// Migrated is the result of the migration of one object.
type Migrated struct {
	inventory.Reference
	From          []string // the updaters whose fields are migrated; none if there is nothing to migrate
	Before, After []managedfields.Entry
	Patch         []byte // nil if there is nothing to migrate
	Missing       bool   // the object does not exist
	Err           error
}

// MigrateInventory migrates the objects of an inventory one after the other, and returns the result for each. With preview, it reads the
// objects and patches none. It goes on after an object that fails. Once ctx is done, the other objects get its error.
func MigrateInventory(ctx context.Context, i inventory.Inventory, c Client, preview bool) []Migrated {
	var out []Migrated
	for _, r := range i.Objects {
		if ctx.Err() != nil {
			out = append(out, Migrated{Reference: r, Err: ctx.Err()})
			continue
		}
		m := migrate(ctx, i, c, r)
		if m.Patch != nil && m.Err == nil && !preview {
			if err := c.Patch(ctx, r, m.Patch); err != nil {
				m.Err = fmt.Errorf("%v: %w", r, err)
			}
		}
		out = append(out, m)
	}
	return out
}

// migrate reads an object of an inventory, and computes its patch.
func migrate(ctx context.Context, i inventory.Inventory, c Client, r inventory.Reference) Migrated {
	out := Migrated{Reference: r}
	object, err := c.Get(ctx, r)
	if out.Missing = apierrors.IsNotFound(err); out.Missing {
		return out
	}
	var live managedfields.Object
	if err == nil {
		live, err = kube.ObjectOf(object)
	}
	if err != nil {
		out.Err = fmt.Errorf("%v: %w", r, err)
		return out
	}
	out.Before, out.After = live.Entries, live.Entries
	names := slices.Concat(i.From, ownership.ClientSideAppliers(live.Entries))
	after, err := ownership.Migrate(live, nil, names, i.To, "")
	switch {
	case errors.Is(err, ownership.ErrNoManager):
		return out
	case err == nil:
		out.After = after
		out.Patch, _, err = ownership.EntriesPatch(live, after)
	}
	if err != nil {
		out.Err = fmt.Errorf("%v: %w", r, err)
		return out
	}
	for _, e := range live.Entries {
		if e.Operation == "Update" && e.Subresource == "" && slices.Contains(names, e.Manager) && !slices.Contains(out.From, e.Manager) {
			out.From = append(out.From, e.Manager)
		}
	}
	return out
}
