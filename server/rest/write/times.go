package write

import (
	"slices"
	"time"

	"github.com/deed-project/deed/managedfields"
)

// keepTimes returns object with the times of live's managed fields, if these times are all that it changes: then there is nothing
// to store. Entries that come or go are a change, and so is an empty object in place of none.
func keepTimes(object, live managedfields.Object) managedfields.Object {
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

func sameButTime(e, was managedfields.Entry) bool {
	return e.Manager == was.Manager && e.Operation == was.Operation && e.APIVersion == was.APIVersion &&
		e.Subresource == was.Subresource && e.FieldsType == was.FieldsType && e.FieldsV1.Equal(was.FieldsV1)
}

// inSeconds returns a copy of entries with their times as they are stored.
func inSeconds(entries []managedfields.Entry) []managedfields.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Time = out[i].Time.Truncate(time.Second)
	}
	return out
}
