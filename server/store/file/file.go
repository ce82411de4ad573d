// Package file is a store in a file, for one process at a time. What a write has returned is on the
// disk and survives the end of the process, however it comes. The records are held in memory too,
// where reads find them.
package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// The file is a bbolt database with two buckets:
//
//	changes   revision, 8 bytes     the change, see appendChange
//	meta      "format"              2
//	          "compacted"           revision, 8 bytes; 1 if it is not there
//
// Invariant: the changes up to the compacted revision are the records that were stored then, and
// the later ones are complete.
var (
	changesBucket = []byte("changes")
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	compactedKey  = []byte("compacted")
)

const format = "2"

// patience is how long Open waits for a process that ends to give the file back.
const patience = time.Second

// Open returns the store in the named file, which it makes if there is none. Only the owner can read
// the file, also when others could before. It is a store.Store. The error names the file: another
// process has it open, it is no such file, it is a symbolic link, or it is damaged. A damaged record
// is named: see Verify.
//
// Its cost is that of reading the file.
func Open(name string) (_ *Store, err error) {
	// A file that lacks pages faults where it is mapped, and bbolt panics on pages that make no sense. What is open then stays
	// open: the database cannot be closed any more.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store %s: %w: %v", name, errDamaged, v)
		}
	}()
	if err := closeToOthers(name); err != nil {
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{Timeout: patience, FreelistType: bbolt.FreelistMapType})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("store %s: another process has it open", name)
	case err != nil:
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	j, err := newJournal(db, name)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", name, errors.Join(err, db.Close()))
	}
	s, err := load(j)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", name, errors.Join(err, db.Close()))
	}
	return &Store{s, j}, nil
}

// Store is the store in a file.
type Store struct {
	*history.Store
	journal *journal
}

// Lost returns a channel that is closed when the file was removed, replaced or cut under the store: from then on every write fails. The
// process had better end, and say so: what it reads from memory is on no disk any more.
func (s *Store) Lost() <-chan struct{} { return s.journal.gone }

// closeToOthers makes the named file readable by its owner alone, if it is there. A symbolic link is an error: it may lead to a file
// that its owner did not name.
func closeToOthers(name string) error {
	is, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case is.Mode()&os.ModeSymlink != 0:
		return errors.New("it is a symbolic link")
	}
	return os.Chmod(name, 0o600)
}

// load makes the store of what the file has.
func load(j *journal) (*history.Store, error) {
	db := j.db
	if err := db.Update(initialize); err != nil {
		return nil, err
	}
	var s *history.Store
	err := db.View(func(tx *bbolt.Tx) error {
		if err := complete(tx); err != nil {
			return err
		}
		compacted := store.Revision(1)
		if b := tx.Bucket(metaBucket).Get(compactedKey); b != nil {
			var err error
			if compacted, err = revisionOf(b); err != nil {
				return fmt.Errorf("compacted revision: %w", err)
			}
		}
		var err error
		s, err = history.New(j, compacted, changes(tx))
		return err
	})
	return s, err
}

// complete returns an error if the file is shorter than what is known of it.
func complete(tx *bbolt.Tx) error {
	is, err := os.Stat(tx.DB().Path())
	if err == nil && is.Size() < tx.Size() {
		err = fmt.Errorf("%w: it has %d bytes of %d", errDamaged, is.Size(), tx.Size())
	}
	return err
}

// initialize makes what a new file lacks, and refuses files of another format.
func initialize(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists(changesBucket); err != nil {
		return err
	}
	meta, err := tx.CreateBucketIfNotExists(metaBucket)
	if err != nil {
		return err
	}
	switch found := meta.Get(formatKey); {
	case found == nil:
		return meta.Put(formatKey, []byte(format))
	case string(found) != format:
		return fmt.Errorf("its format is %q, and not %q", found, format)
	}
	return nil
}

// changes yields the changes in the file in the order of their revisions.
func changes(tx *bbolt.Tx) iter.Seq2[history.Change, error] {
	return func(yield func(history.Change, error) bool) {
		cursor := tx.Bucket(changesBucket).Cursor()
		for k, v := cursor.First(); k != nil; k, v = cursor.Next() {
			c, err := readChange(k, v)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func keyOf(r store.Revision) []byte { return binary.BigEndian.AppendUint64(nil, uint64(r)) }
