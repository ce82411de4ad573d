package managedfields

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// What a server does around its field manager, whatever the kind of the object is. The API server and the command line share it.

// KeepTimes returns object, the outcome of a write, with the times of live's managed fields if it differs from live in
// nothing but these times. A new, missing or moved entry is a difference, and so is an empty object in place of an absent
// one.
//
// A server does this at the end of each write. Otherwise a controller that repeats an apply would store a new time each
// second, and each store would send an event. Field managers do not do this: a server may still change the object.
//
// The result shares its content with object. KeepTimes takes time in proportion to the parts that the two objects do not
// share.
func (internal) KeepTimes(object, live Object) Object {
	if len(object.Entries) == 0 || len(object.Entries) != len(live.Entries) {
		return object
	}
	later := false
	for i, e := range object.Entries {
		was := live.Entries[i]
		later = later || !e.Time.Equal(was.Time)
		if !sameButTime(e, was) {
			return object
		}
	}
	if later && object.Content.Equal(live.Content) {
		object.Entries = slices.Clone(live.Entries)
	}
	return object
}

// sameButTime reports whether two entries differ at most in their times.
func sameButTime(e, was Entry) bool {
	return e.Manager == was.Manager && e.Operation == was.Operation && e.APIVersion == was.APIVersion &&
		e.Subresource == was.Subresource && e.FieldsType == was.FieldsType && e.FieldsV1.Equal(was.FieldsV1)
}

// UniqueOwners returns object, the new object of a create or an update, without repeated owner references, and the uids of
// the removed ones. Two references are the same if all their members are equal.
//
// A server does this before its field manager sees the object, and warns of the uids. An apply that repeats a reference is
// refused.
func (internal) UniqueOwners(object value.Value) (unique value.Value, removed []string) {
	metadata := object.Get("metadata")
	references := metadata.Get("ownerReferences")
	if references.Len() < 2 {
		return object, nil
	}
	had := make(map[string]bool, references.Len()) // by text, because references hold only strings and booleans
	var kept []value.Value
	for reference := range references.Items() {
		text := string(reference.AppendJSON(nil))
		if had[text] {
			removed = append(removed, reference.Get("uid").Str())
			continue
		}
		had[text] = true
		kept = append(kept, reference)
	}
	if removed == nil {
		return object, nil
	}
	return object.With("metadata", metadata.With("ownerReferences", value.List(kept...))), removed
}

// RepeatedOwners is the warning of a server that has removed the references with these uids.
func (internal) RepeatedOwners(uids []string) string {
	return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may " +
		"reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(uids, ", ")
}
