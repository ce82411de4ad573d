package managedfields

import (
	"bytes"
	"slices"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// Managed fields as data. An [Object] has them beside its content, since nobody wants to merge
// them; this file is about the few writes in which that shows.

// To kube-apiserver managed fields are data of the live object: an update removes them, an apply
// keeps them, and both write them anew in the end. That shows only where an entry claims to own
// them, or metadata as such, where a configuration has null for them, or where they have something
// that the kind's type may refuse. Then, and only then, the live object is merged and compared with
// something in their place.

var (
	managedFieldsPath = fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("managedFields")}
	metadataPath      = managedFieldsPath[:1]
)

// placeholder stands for the managed fields of a live object. Every Go struct of an object keeps it
// when it is converted.
var placeholder = value.List(value.Object())

// liveData returns the live object as it is merged and compared:
//
//	S11  To somebody who claims to own them, managed fields are data of the live object: an update
//	     removes them, so that the claim ends.
//
// They are data, too, where they have members that an [Entry] has not: the kind's type may refuse
// those.
func (r *request) liveData(owners owned) value.Value {
	managed := r.live.managed
	switch {
	case !managed.IsAbsent():
	case slices.ContainsFunc(r.live.Entries, Entry.hasNoFields):
		managed, _ = entriesValue(r.live.Entries) // absent if one is no JSON
	case r.object.managed.IsNull() || claimsManagedFields(owners.managers):
		managed = placeholder
	}
	if managed.IsAbsent() || !managed.IsNull() && (r.live.Entries == nil || !r.admitsManagedFields()) {
		return r.live.Content
	}
	return r.live.Content.With("metadata", r.live.Content.Get("metadata").With("managedFields", managed))
}

// claimsManagedFields reports whether somebody owns metadata as such, managed fields, or something
// below them.
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

// admitsManagedFields reports whether the type of the endpoint's objects has managed fields at all.
func (m *FieldManager) admitsManagedFields() bool {
	metadata := value.Object(value.Member{Name: "managedFields", Value: placeholder})
	_, err := typed.New(value.Object(value.Member{Name: "metadata", Value: metadata}), m.typ)
	return err == nil
}

// withoutEntries returns content without managed fields as data.
func withoutEntries(content value.Value) value.Value {
	metadata := content.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return content
	}
	return content.With("metadata", metadata.With("managedFields", value.Value{}))
}

// isSortedAsSet reports whether the names in fieldsV1 are in another order than that of a Go map
// that is printed: a set has the port 80 before 443.
func (e Entry) isSortedAsSet() bool {
	v, err := e.FieldsV1.document()
	return err == nil && !bytes.Equal(v.AppendJSON(nil), e.FieldsV1.appendEscaped(nil))
}
