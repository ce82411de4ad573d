package managedfields

import (
	"bytes"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Managed fields as data. An [Object] has them beside its content, because they are not merged.
// This file treats the few writes in which the difference shows.

// In kube-apiserver managed fields are data of the live object. An update removes them, and an apply
// keeps them; both write them anew at the end. The difference shows in three cases. An entry
// claims to own them or metadata itself; a configuration has null for them; or they have content
// that the kind's type may refuse. In these cases only, liveData puts a value in their place.

var (
	managedFieldsPath = fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("managedFields")}
	metadataPath      = managedFieldsPath[:1]
)

// placeholder stands for the managed fields of a live object. All Go structs of objects keep it in
// conversions.
var placeholder = value.List(value.Object())

// liveData returns the live object as it is merged and compared:
//
//	S11  For a manager that claims to own them, managed fields are data of the live object: an
//	     update removes them, so that the claim ends.
//
// They are also data if they have members that [Entry] lacks, or a fieldsV1 that is no object. The
// kind's type may refuse these.
func (r *request) liveData(owners owned) value.Value {
	managed := r.live.managed
	switch {
	case !managed.IsAbsent():
	case slices.ContainsFunc(r.live.Entries, Entry.hasNoFields):
		managed, _ = entriesValue(r.live.Entries) // absent if a fieldsV1 is no JSON
	case r.object.managed.IsNull() || claimsManagedFields(owners.managers):
		managed = placeholder
	}
	if managed.IsAbsent() || !managed.IsNull() && (r.live.Entries == nil || !r.admitsManagedFields()) {
		return r.live.Content
	}
	return r.live.Content.With("metadata", r.live.Content.Get("metadata").With("managedFields", managed))
}

// claimsManagedFields reports whether a manager owns metadata itself, managed fields, or a field
// below managed fields.
func claimsManagedFields(managers merge.Managers) bool {
	for e := range managers.All() {
		whole, metadata := e.Fields.Get(metadataPath[0])
		owned, below := metadata.Get(managedFieldsPath[1])
		if whole || owned || !below.IsEmpty() {
			return true
		}
	}
	return false
}

// admitsManagedFields reports whether the type of the endpoint's objects has managed fields.
func (m *FieldManager) admitsManagedFields() bool {
	metadata := value.Object(value.Member{Name: "managedFields", Value: placeholder})
	_, err := typed.New(value.Object(value.Member{Name: "metadata", Value: metadata}), m.typ)
	return err == nil
}

// withoutEntries returns content without its managed fields.
func withoutEntries(content value.Value) value.Value {
	metadata := content.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return content
	}
	return content.With("metadata", metadata.With("managedFields", value.Value{}))
}

// isSortedAsSet reports whether the names in fieldsV1 have another order than a printed Go map. For
// example, a set has the port 80 before 443.
func (e Entry) isSortedAsSet() bool {
	v, err := e.FieldsV1.document()
	return err == nil && !bytes.Equal(v.AppendJSON(nil), e.FieldsV1.appendEscaped(nil))
}
