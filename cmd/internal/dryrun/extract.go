package dryrun

import (
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
	here, version := o.GVK().APIVersion(), AppliedVersion(o, manager, subresource)
	t := e.Versions[version]
	switch {
	case version == here || t == nil || e.Renamed:
		return ownership.Extract(o, e.Typ, manager, subresource)
	case !e.Converts():
		return value.Value{}, secret.Errorf("the configuration is of %s, which deed cannot convert the object to", version)
	}
	converted, err := e.Conversions().Converter.Convert(o.Content, version)
	if err != nil {
		return value.Value{}, err
	}
	o.Content = converted
	return ownership.Extract(o, t, manager, subresource)
}

// AppliedVersion returns the version of the configuration that manager applied to o through a subresource; that of o if there is none.
func AppliedVersion(o managedfields.Object, manager, subresource string) string {
	for _, x := range o.Entries {
		if x.Manager == manager && x.Operation == merge.Apply && x.Subresource == subresource {
			return x.APIVersion
		}
	}
	return o.GVK().APIVersion()
}
