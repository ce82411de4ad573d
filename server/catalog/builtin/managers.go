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

// onceAsked returns a Manager that creates the field manager and its types at the first call, because most servers use few kinds. It panics
// if the data of the kind is damaged.
func onceAsked(gvk schema.GVK, make func() (*managedfields.FieldManager, error)) catalog.Manager {
	return sync.OnceValue(func() *managedfields.FieldManager {
		m, err := make()
		if err != nil {
			panic(fmt.Sprintf("%v: %v", gvk, err))
		}
		return m
	})
}

// AddManagers sets the field managers of v's main endpoint and status. The kind of v must have a type in schema/builtin. now is the clock
// of managed fields. An applied object gets the defaults of the form.
func AddManagers(v *catalog.Version, now func() time.Time) {
	manager := func(subresource, kept string) catalog.Manager {
		return onceAsked(v.GVK(), func() (*managedfields.FieldManager, error) { return newPlainManager(v, subresource, kept, now) })
	}
	v.Main, v.Status = manager("", "status"), manager("status", "spec")
}

// newPlainManager makes the field manager of an endpoint that writes all members except kept.
//
// Fields that the endpoint does not write are reset: no manager owns them through it.
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

// excluding returns the filter of all fields but a member and those below it.
func excluding(name string) merge.Filter {
	return merge.Filter{Exclude: fieldpath.SetOf(fieldpath.Path{fieldpath.Field(name)})}
}
