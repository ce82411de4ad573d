package builtin

import (
	"fmt"
	"time"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
)

// AddManagers gives v, a version of a kind that has a type in schema/builtin, the field managers of its endpoint and of its
// status. now is the clock of managed fields. What an apply makes gets the defaults of the form. It is an error if the kind has no type.
func AddManagers(v *catalog.Version, now func() time.Time) error {
	gvk := v.GVK()
	typ, ok := builtin.Type(gvk)
	if !ok {
		return fmt.Errorf("%s %s has no type", gvk.APIVersion(), gvk.Kind)
	}
	empty, _ := builtin.Empty(gvk)
	config := managedfields.Config{
		GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Empty: empty, Now: now, Hold: v.Form.Complete,
		ResetFields: map[string]merge.Filter{gvk.APIVersion(): excluding("status")},
	}
	main, err := managedfields.New(config)
	if err != nil {
		return err
	}
	config.Subresource, config.ResetFields = "status", map[string]merge.Filter{gvk.APIVersion(): excluding("spec")}
	status, err := managedfields.New(config)
	v.Main, v.Status = catalog.Made(main), catalog.Made(status)
	return err
}

func excluding(name string) merge.Filter {
	return merge.Filter{Exclude: fieldpath.SetOf(fieldpath.Path{fieldpath.Field(name)})}
}
