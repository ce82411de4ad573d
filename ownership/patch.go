package ownership

import (
	"slices"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// A patch can edit managed fields in a cluster. It should name the version of the object for which
// it was made.

// EntriesPatch returns the JSON patch (RFC 6902) that makes entries the managed fields of o in a
// cluster. It is nil if o has these entries already. The notation of their sets does not count.
// Example:
//
//	[{"op":"replace","path":"/metadata/managedFields","value":[…]},
//	 {"op":"replace","path":"/metadata/resourceVersion","value":"…"}]
//
// The patch is guarded if o has a resource version: the server refuses the patch as a conflict if
// it stores another version of o. If o has none, the patch overwrites the managed fields that are
// there by then. If there are no entries, the patch has an empty list, and the server forgets all
// owners. null would mean no change.
//
// The error names the entry whose FieldsV1 is no JSON text.
func EntriesPatch(o managedfields.Object, entries []managedfields.Entry) (patch []byte, guarded bool, err error) {
	resourceVersion := o.Content.Get("metadata", "resourceVersion").Str()
	guarded = resourceVersion != ""
	if sameEntries(o.Entries, entries) {
		return nil, guarded, nil
	}
	if entries == nil {
		entries = []managedfields.Entry{}
	}
	object, err := managedfields.Object{Content: value.Object(), Entries: entries}.Value()
	if err != nil {
		return nil, guarded, err
	}
	replace := func(path string, v value.Value) value.Value {
		return value.Object(
			value.Member{Name: "op", Value: value.String("replace")},
			value.Member{Name: "path", Value: value.String(path)},
			value.Member{Name: "value", Value: v},
		)
	}
	return value.List(
		replace("/metadata/managedFields", object.Get("metadata", "managedFields")),
		replace("/metadata/resourceVersion", value.String(resourceVersion)),
	).AppendJSON(nil), guarded, nil
}

// sameEntries reports whether a and b are the same entries in the same order. The notation of their
// sets does not count.
func sameEntries(a, b []managedfields.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y managedfields.Entry) bool {
		return x.Manager == y.Manager && x.Operation == y.Operation && x.APIVersion == y.APIVersion &&
			x.Time.Equal(y.Time) && x.FieldsType == y.FieldsType && x.Subresource == y.Subresource &&
			x.FieldsV1.Equal(y.FieldsV1)
	})
}
