package dryrun

import (
	"slices"

	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/value"
)

// Extract returns the configuration that manager applied to o through a subresource, or absent if there is none: see [ownership.Extract]. e is
// the endpoint of o. A configuration in another version than o is of that version, unless the versions differ only in their names. It is an
// error if deed cannot convert o to that version.
func Extract(o managedfields.Object, e *types.Endpoint, manager, subresource string) (value.Value, error) {
	i := slices.IndexFunc(o.Entries, func(x managedfields.Entry) bool {
		return x.Manager == manager && x.Operation == merge.Apply && x.Subresource == subresource
	})
	t, version := e.Typ, o.GVK().APIVersion()
	if i >= 0 {
		version = o.Entries[i].APIVersion
	}
	if known := e.Versions[version]; known != nil && version != o.GVK().APIVersion() && !e.Renamed {
		if !e.Converts() {
			return value.Value{}, secret.Errorf("the configuration is of %s, which deed cannot convert the object to", version)
		}
		converted, err := e.Conversions().Converter.Convert(o.Content, version)
		if err != nil {
			return value.Value{}, err
		}
		o.Content, t = converted, known
	}
	return ownership.Extract(o, t, manager, subresource)
}
