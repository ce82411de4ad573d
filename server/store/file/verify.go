package file

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
)

// Checking a file whose store does not open, and saving what is intact. For example:
//
//	compacted 4    changes 2 (a) 4 (b) | 5 (a) 6 (c, damaged) 8 (b)
//	defects        6: c is damaged, 7 is missing
//	repaired       b@8 a@5, compacted at 8, so revisions continue at 9
//
// Before the compacted revision, gaps are normal: superseded changes were dropped. After it, each revision has a change.

// Report is the outcome of checking a file.
type Report struct {
	Changes  int            // number of intact changes
	Records  int            // number of records after them
	Revision store.Revision // the latest revision
	Defects  []Defect       // by revision
}

// Defect is a damaged or missing change.
type Defect struct {
	Revision store.Revision
	Key      string         // of the record, as much as can be read
	Earlier  store.Revision // the revision of the record that a repair keeps instead; 0 if there is none
	Err      error
}

// Verify reads the named file and compares each change with its checksum. No process may have the file open. The error says that the file
// cannot be read at all; defects are in the report.
func Verify(name string) (Report, error) {
	r, _, err := inspect(name)
	return r, err
}

// Repair writes the intact part of the named file to another file, which must not exist. For each record it takes the latest intact change.
// It drops the history, so that clients have to list again.
//
// It never changes the damaged file. Records whose only change is damaged are lost; the report names them.
func Repair(name, to string) (Report, error) {
	report, records, err := inspect(name)
	if err != nil {
		return report, err
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return report, fmt.Errorf("store %s: it is there already", to)
	}
	db, err := bbolt.Open(to, 0o600, &bbolt.Options{Timeout: patience})
	if err != nil {
		return report, fmt.Errorf("store %s: %w", to, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := initialize(tx); err != nil {
			return err
		}
		bucket := tx.Bucket(changesBucket)
		for _, c := range records {
			if err := bucket.Put(encode(c)); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(compactedKey, keyOf(report.Revision))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return report, fmt.Errorf("store %s: %w", to, err)
	}
	return report, nil
}

// inspect reads the changes of a file. It returns a report, and the latest intact change of each stored record.
//
// The file is opened for reading only. A panic of bbolt means that its own structure is damaged, and then nothing can be said about
// changes.
func inspect(name string) (report Report, records []history.Change, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store %s: %w: %v", name, errDamaged, v)
		}
	}()
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{Timeout: patience, ReadOnly: true})
	if err != nil {
		return report, nil, fmt.Errorf("store %s: %w", name, err)
	}
	i := inspection{latest: map[string]history.Change{}}
	err = db.View(i.read)
	if err = errors.Join(err, db.Close()); err != nil {
		return report, nil, fmt.Errorf("store %s: %w", name, err)
	}
	report, records = i.result()
	return report, records, nil
}

// inspection is the state of reading a file.
//
// A damaged change leaves the entry of its key in latest as it was: the earlier text is what a repair can give.
type inspection struct {
	report Report
	latest map[string]history.Change // by key, with deletions
}

// read reads all changes of a file.
func (i *inspection) read(tx *bbolt.Tx) error {
	bucket, meta := tx.Bucket(changesBucket), tx.Bucket(metaBucket)
	if bucket == nil || meta == nil || string(meta.Get(formatKey)) != format {
		return fmt.Errorf("its format is not %q", format)
	}
	compacted := store.Revision(1)
	if b := meta.Get(compactedKey); b != nil {
		var err error
		if compacted, err = revisionOf(b); err != nil {
			return err
		}
	}
	i.report.Revision = compacted
	return bucket.ForEach(func(k, v []byte) error {
		i.add(k, v, compacted)
		return nil
	})
}

// add takes the next change. After the compacted revision, revisions must be consecutive.
func (i *inspection) add(k, v []byte, compacted store.Revision) {
	c, err := readChange(k, v)
	if revision, unreadable := revisionOf(k); unreadable == nil {
		// Note the revisions between the last change and this one. The revision of a damaged change counts as present.
		for missing := i.report.Revision + 1; revision > compacted && missing < revision; missing++ {
			i.report.Defects = append(i.report.Defects, Defect{Revision: missing, Err: errors.New("the change is absent")})
		}
		i.report.Revision = max(i.report.Revision, revision)
	}
	if err != nil {
		d := Defect{Err: err}
		if damaged := (*damage)(nil); errors.As(err, &damaged) {
			d.Revision, d.Key = damaged.revision, damaged.key
			d.Earlier = i.latest[d.Key].Revision
		}
		i.report.Defects = append(i.report.Defects, d)
		return
	}
	i.report.Changes++
	i.latest[c.Key] = c
}

// result returns the report, and the stored records by revision.
//
// A map has no order, so the records are sorted.
func (i *inspection) result() (Report, []history.Change) {
	var records []history.Change
	for _, c := range i.latest {
		if !c.Deleted {
			records = append(records, c)
		}
	}
	slices.SortFunc(records, func(a, b history.Change) int { return int(a.Revision - b.Revision) })
	i.report.Records = len(records)
	return i.report, records
}
