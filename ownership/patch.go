package ownership

import (
	"slices"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Managed fields can be edited in a cluster by those who know how: by a patch that names the
// version of the object that it was made for.

// EntriesPatch returns the JSON patch (RFC 6902) that makes entries the managed fields of o, and
// nil when o's own entries say the same, in whatever order their sets are written. It is the way to
// edit managed fields in a cluster:
//
//	[{"op":"replace","path":"/metadata/managedFields","value":[…]},
//	 {"op":"replace","path":"/metadata/resourceVersion","value":"…"}]
//
// With the resource version of o the server refuses the patch as a conflict when o is no longer
// what it stores: the patch is guarded. If o has none, that step says nothing, and the patch
// overwrites whatever is there by then. No entries at all are written as an empty list, which lets
// the server forget all owners; null would mean no change.
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

// sameEntries reports whether a and b are the same entries in the same order, however their sets
// are written.
func sameEntries(a, b []managedfields.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y managedfields.Entry) bool {
		return x.Manager == y.Manager && x.Operation == y.Operation && x.APIVersion == y.APIVersion &&
			x.Time.Equal(y.Time) && x.FieldsType == y.FieldsType && x.Subresource == y.Subresource &&
			x.FieldsV1.Equal(y.FieldsV1)
	})
}
