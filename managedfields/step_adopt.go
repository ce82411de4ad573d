package managedfields

import (
	"fmt"

	"github.com/deed-project/deed/merge"
)

// Steps Adopt and Track: objects that nobody manages.

// BeforeFirstApply owns what was in an object before somebody first applied to it.
const BeforeFirstApply = "before-first-apply"

// adopt finds an owner for what is in a live object that nobody manages: until somebody applies,
// such objects are not tracked.
//
//	S3  When an object that nobody manages is first applied to, all that is in it becomes the
//	    updater before-first-apply's.
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

// isUntracked reports whether an update is of an object that nobody manages, unless it is being
// created:
//
//	S4  An update of an object that exists and that nobody manages is not tracked: nobody manages
//	    it afterwards.
func (r *request) isUntracked(stored decoded) bool {
	return merging.Len(stored.managers) == 0 && r.live.Content.Get("metadata", "uid").Str() != ""
}
