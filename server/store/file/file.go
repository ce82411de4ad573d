// Package file is a store in a file, for one process at a time. A write that returned is on disk and survives any end of the process. The
// store also holds all records in memory and reads them from there.
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
// Invariant: the changes up to the compacted revision are exactly the records that were stored at that revision. The later changes are
// complete.
var (
	changesBucket = []byte("changes")
	metaBucket    = []byte("meta")
	formatKey     = []byte("format")
	compactedKey  = []byte("compacted")
)

const format = "2"

// patience is how long Open waits for another process to release the file.
const patience = time.Second

// Open returns the store in the named file. It creates the file if it does not exist. It makes the file readable only by its owner. The
// error names the file: another process has it open, it has another format, it is a symbolic link, or it is damaged. For a damaged file the
// error also names the record; see [Verify].
//
// The cost is that of reading the file.
//
// The steps of open stand in this order: permissions first, so that no other user can open the file meanwhile. Then bbolt takes its lock on the
// file. Only then is anything read, and the changes are loaded one by one, so that memory holds each text once.
func Open(name string) (*Store, error) { return open(name, true) }

// OpenUnsynced is like [Open], but a write may return before it is on disk. It survives the end of the process, and is lost if the machine
// stops before the system writes it. Tests want that: a write takes microseconds and no disk.
func OpenUnsynced(name string) (*Store, error) { return open(name, false) }

func open(name string, sync bool) (_ *Store, err error) {
	// A truncated file faults where it is mapped, and bbolt panics on malformed pages. The recovered database keeps its locks and cannot be
	// closed, so it stays open.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store %s: %w: %v", name, errDamaged, v)
		}
	}()
	if err := closeToOthers(name); err != nil {
		return nil, fmt.Errorf("store %s: %w", name, err)
	}
	db, err := bbolt.Open(name, 0o600, &bbolt.Options{
		Timeout: patience, FreelistType: bbolt.FreelistMapType, NoSync: !sync, NoGrowSync: !sync,
	})
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

// Store is a store in a file.
//
// Reads and watches come from memory. Writes go to the file first.
type Store struct {
	*history.Store
	journal *journal
}

// Lost returns a channel that is closed when the file was removed, replaced or truncated under the store. Every write then fails. The
// process should report this and end, because the records in its memory are no longer on disk.
func (s *Store) Lost() <-chan struct{} { return s.journal.gone }

// closeToOthers makes the named file readable only by its owner, if the file exists. It refuses a symbolic link, because the link may lead
// to a file that the user did not name.
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

// load returns a store with the changes of the file.
//
// A damaged change ends loading: a store must not begin with less than what was stored. Repair is a decision of the user.
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

// complete returns an error if the file is shorter than its meta page says.
//
// bbolt maps the file and would read behind its end.
func complete(tx *bbolt.Tx) error {
	is, err := os.Stat(tx.DB().Path())
	if err == nil && is.Size() < tx.Size() {
		err = fmt.Errorf("%w: it has %d bytes of %d", errDamaged, is.Size(), tx.Size())
	}
	return err
}

// initialize creates the buckets of a new file, and refuses files of another format.
//
// It runs for every file. One that has the buckets and the format keeps its content.
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

// changes yields the changes in the file by revision.
//
// It ends after the first error. The changes share no memory with the file.
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

// keyOf returns the key of the change of a revision.
func keyOf(r store.Revision) []byte { return binary.BigEndian.AppendUint64(nil, uint64(r)) }
