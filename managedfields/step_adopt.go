package managedfields

import (
	"fmt"

	"github.com/deed-project/deed/merge"
)

// Steps Adopt and Track: objects without managers.

// BeforeFirstApply owns the fields that an object had before the first apply to it.
const BeforeFirstApply = "before-first-apply"

// adopt finds an owner for the fields of a live object without managers. Such objects are not
// tracked before their first apply.
//
//	S3  The first apply to an object without managers gives all its fields to the updater
//	    before-first-apply.
func (r *request) adopt(stored decoded) (owned, error) {
	if merging.Len(stored.managers) > 0 {
		return owned{managers: stored.managers, adapted: stored.adapted}, nil
	}
	creation := r.request(Object{Content: r.config.Empty}, Object{Content: r.live.Content}, BeforeFirstApply, merge.Update)
	out, err := creation.mergeUpdate(owned{})
	if err != nil {
		return owned{}, fmt.Errorf("failed to create manager for existing fields: %w", err)
	}
	return owned{managers: creation.capUpdaters(out).managers, invented: true}, nil
}

// isUntracked reports whether an update changes an existing object without managers:
//
//	S4  An update of an existing object without managers is not tracked: the object has no
//	    managers afterwards.
func (r *request) isUntracked(stored decoded) bool {
	return merging.Len(stored.managers) == 0 && r.live.Content.Get("metadata", "uid").Str() != ""
}
