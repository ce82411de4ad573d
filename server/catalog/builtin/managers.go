package builtin

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
)

// onceAsked returns a field manager of a kind, which is made, with the types that it needs, when somebody asks for it first: most servers
// are asked about few kinds. It panics if the data of the kind is damaged.
func onceAsked(gvk schema.GVK, make func() (*managedfields.FieldManager, error)) catalog.Manager {
	return sync.OnceValue(func() *managedfields.FieldManager {
		m, err := make()
		if err != nil {
			panic(fmt.Sprintf("%v: %v", gvk, err))
		}
		return m
	})
}

// AddManagers gives v, a version of a kind that has a type in schema/builtin, the field managers of its endpoint and of its
// status. now is the clock of managed fields. What an apply makes gets the defaults of the form.
func AddManagers(v *catalog.Version, now func() time.Time) {
	manager := func(subresource, kept string) catalog.Manager {
		return onceAsked(v.GVK(), func() (*managedfields.FieldManager, error) { return newPlainManager(v, subresource, kept, now) })
	}
	v.Main, v.Status = manager("", "status"), manager("status", "spec")
}

// newPlainManager makes the field manager of an endpoint that writes everything but the member called kept.
func newPlainManager(v *catalog.Version, subresource, kept string, now func() time.Time) (*managedfields.FieldManager, error) {
	gvk := v.GVK()
	typ, ok := builtin.Type(gvk)
	if !ok {
		return nil, errors.New("it has no type")
	}
	empty, _ := builtin.Empty(gvk)
	return managedfields.New(managedfields.Config{
		GVK: gvk, Subresource: subresource, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Empty: empty, Now: now,
		Hold: v.Form.Complete, ResetFields: map[string]merge.Filter{gvk.APIVersion(): excluding(kept)},
	})
}

func excluding(name string) merge.Filter {
	return merge.Filter{Exclude: fieldpath.SetOf(fieldpath.Path{fieldpath.Field(name)})}
}
