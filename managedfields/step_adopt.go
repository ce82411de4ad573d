package managedfields

import (
	"errors"
	"fmt"

	"github.com/deed-project/deed/merge"
)

// BeforeFirstApply owns what was in an object before somebody first applied to it.
const BeforeFirstApply = "before-first-apply"

// adopt finds an owner for what is in a live object that nobody manages: until somebody applies, such objects are not
// tracked. It leaves in w.before who owns the live object.
//
//	S3  When an object that nobody manages is first applied to, all that is in it becomes the updater before-first-apply's.
func (w *write) adopt() error {
	w.before = w.entries.managers
	if w.before.Len() > 0 {
		return nil
	}
	empty := Object{Content: w.config.Empty}
	creation := w.newWrite(empty, Object{Content: w.live.Content}, BeforeFirstApply, merge.Update)
	if err := creation.run([]step{(*write).mergeUpdate, (*write).capUpdaters}); err != nil {
		return fmt.Errorf("failed to create manager for existing fields: %w", err)
	}
	w.before = creation.managers
	return nil
}

// errUntracked ends an update of an object that is not tracked.
var errUntracked = errors.New("the object is not tracked")

// track ends updates of objects that nobody manages, except while they are created:
//
//	S4  An update of an object that exists and that nobody manages is not tracked: nobody manages it afterwards.
func (w *write) track() error {
	w.before = w.entries.managers
	if w.before.Len() == 0 && w.live.Content.At("metadata", "uid").Str() != "" {
		return errUntracked
	}
	return nil
}
