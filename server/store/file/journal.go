package file

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/history"
	"go.etcd.io/bbolt"
)

// Writing changes. A commit is one transaction of bbolt, which is on disk when it returns. The risk is not bbolt, but that the file is
// taken away while the server runs. Then the commits go to a file that no longer has a name, and are lost with the process. So the journal
// looks at the file before and after each commit:
//
//	removed, replaced, cut     the journal is lost: all writes fail from then on, and the process should end
//	any other error            this commit fails; the next one may succeed, for example when the disk has room again

// journal implements history.Journal in the file. Its methods are called one at a time.
//
// No field is guarded: history.Store calls the methods one at a time.
type journal struct {
	db     *bbolt.DB
	name   string
	opened os.FileInfo   // the file that db has open
	size   int64         // of the file after the last commit
	lost   error         // why writes fail for ever; nil while they may succeed
	gone   chan struct{} // closed when lost is set
	stuck  bool          // db panicked and still holds its locks
}

// newJournal returns the journal of an open file, and notes which file it is.
func newJournal(db *bbolt.DB, name string) (*journal, error) {
	is, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	return &journal{db: db, name: name, opened: is, size: is.Size(), gone: make(chan struct{})}, nil
}

// Commit implements history.Journal.
func (j *journal) Commit(changes []history.Change) error {
	return j.update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(changesBucket)
		bucket.FillPercent = 1 // keys are ascending, so pages need no room for inserts
		for _, c := range changes {
			if err := bucket.Put(encode(c)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Compact implements history.Journal.
//
// The freed pages stay in the file and are used again, so the file does not shrink.
func (j *journal) Compact(to store.Revision, forget []store.Revision) error {
	return j.update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(changesBucket)
		for _, r := range forget {
			if err := bucket.Delete(keyOf(r)); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(compactedKey, keyOf(to))
	})
}

// update runs f in a transaction. The file may have been removed, replaced or truncated meanwhile. bbolt does not notice the first two, and
// a missing page faults or makes bbolt panic. In all three cases the journal is lost.
//
// A fault becomes a panic by SetPanicOnFault, and the panic an error. bbolt still holds its locks then, so it is not used again.
func (j *journal) update(f func(*bbolt.Tx) error) (err error) {
	if err := j.whole(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			j.stuck = true
			err = j.lose(fmt.Errorf("%w: %v", errDamaged, v))
		}
	}()
	if err := j.db.Update(f); err != nil {
		return &store.Failure{Cause: err}
	}
	// If the file went away during the commit, the commit is lost with it.
	return j.whole()
}

// whole returns an error if the file is removed, replaced, or shorter than after the last commit.
func (j *journal) whole() error {
	if j.lost != nil {
		return j.lost
	}
	is, err := os.Stat(j.name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return j.lose(errors.New("the file was removed"))
	case err != nil:
		return &store.Failure{Cause: err}
	case !os.SameFile(is, j.opened):
		return j.lose(errors.New("the file was replaced"))
	case is.Size() < j.size:
		return j.lose(fmt.Errorf("the file was cut from %d to %d bytes", j.size, is.Size()))
	}
	j.size = is.Size()
	return nil
}

// lose makes all later calls fail and returns their error.
func (j *journal) lose(cause error) error {
	j.lost = &store.Failure{Cause: fmt.Errorf("store %s: %w", j.name, cause)}
	close(j.gone)
	return j.lost
}

// Close implements history.Journal.
//
// A database that panicked is not closed, because closing would wait for its locks.
func (j *journal) Close() error {
	if j.stuck {
		return j.lost
	}
	return errors.Join(j.lost, j.db.Close())
}
