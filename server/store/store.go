// Package store is what an API server needs of the place that holds its objects, and nothing of
// what objects are: records, which are texts with keys, and revisions, which count writes.
//
// Every write makes a new revision of the whole store. What was stored at an earlier revision can
// be read, and what happened since can be watched, until the revision is compacted away. So clients
// read a consistent list page by page, and follow changes from exactly where the list ends.
//
// [Store] is the contract. Package storetest holds its laws as tests, which every implementation
// passes: memory keeps records in the process, file in a file as well, and etcd in a cluster of
// etcd that several servers share.
package store

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Revision numbers the states of a store. An empty store has revision 1, and each write makes a
// larger one.
type Revision int64

// Record is what is stored under a key, as it was written.
type Record struct {
	Key               string
	Text              []byte   // shared with the store: nobody may modify it
	Created, Revision Revision // of the write that made the key, and of that which wrote this text
}

// Range says which records to read: those whose keys begin with Prefix and are greater than After,
// in bytewise order.
type Range struct {
	Prefix, After string
	Limit         int      // of the records; 0 is none
	At            Revision // 0 is the latest
}

// Page is what was read of a [Range].
type Page struct {
	Records   []Record
	Revision  Revision // that was read: At, or the latest
	Remaining int      // how many records follow in the range after those of the page
}

// Event is one write: that of Record, or the deletion of what was stored under its key.
type Event struct {
	Record   // of a deletion it has the key, when it was created, and the revision of the deletion
	Deleted  bool
	Previous []byte // the text that was stored before, shared with the store; nil if there was nothing
}

// Batch holds events of a watch. It has all events up to Revision that earlier batches did not
// have. There may be none: then it says that nothing happened up to Revision.
type Batch struct {
	Events   []Event // in the order of their revisions
	Revision Revision
}

// Store holds records. Its methods are safe for concurrent use, and linearizable: a read sees every
// write that had returned when it began. They return the context's error if the context is done
// before they begin, and [ErrClosed] after Close. After any other error than those below of a
// write, the write may or may not have been made.
type Store interface {
	// Get returns the record of a key as of a revision; 0 is the latest. The error is ErrNotFound
	// if there is none, ErrCompacted or ErrFuture.
	Get(ctx context.Context, key string, at Revision) (Record, error)

	// Range returns the records of a range, all of one revision. The error is ErrCompacted or
	// ErrFuture.
	Range(ctx context.Context, r Range) (Page, error)

	// Put stores a text, which belongs to the store from then on, and returns the revision. If
	// expect is 0 there must be no record of the key, and otherwise one of revision expect. If it
	// is not so the error is a *ConflictError.
	Put(ctx context.Context, key string, text []byte, expect Revision) (Revision, error)

	// PutUntil is Put for a record that is deleted after a time, unless it is written again: see
	// Expire.
	PutUntil(ctx context.Context, key string, text []byte, expect Revision, until time.Time) (Revision, error)

	// Delete deletes the record of a key and returns the revision of that. If expect is not 0 the
	// record must be of revision expect; otherwise the error is a *ConflictError. If there is no
	// record it is ErrNotFound, whatever is expected.
	Delete(ctx context.Context, key string, expect Revision) (Revision, error)

	// Watch returns the events after a revision on keys that begin with prefix, each exactly once,
	// as they happen. Watching after a revision that is still to come waits for it. The error is a
	// *CompactedError if events after that revision are gone.
	//
	// The sequence ends when ctx is done. It ends with a *CompactedError if the reader was so slow that
	// what comes next is gone, and with ErrClosed. A reader that stops early holds nothing. The
	// sequence can be read once.
	Watch(ctx context.Context, prefix string, after Revision) (iter.Seq2[Batch, error], error)

	// Since returns the events after a revision on keys that begin with prefix, up to now, in one
	// batch. It is for those who keep something beside the store, and catch up when they need it. The
	// error is a *CompactedError if events after that revision are gone, ErrFuture, and
	// errors.ErrUnsupported of a store that does not know by itself what happened.
	Since(ctx context.Context, prefix string, after Revision) (Batch, error)

	// Compact forgets what was before a revision: what is read at and watched after that revision
	// and later ones stays. To compact again to the same revision, or to an earlier one, does
	// nothing. The error is ErrFuture if there is no such revision yet.
	Compact(ctx context.Context, to Revision) error

	// Expire deletes the records whose time is over at now. Each is a write like any other. Stores
	// that watch the time by themselves do nothing here.
	Expire(ctx context.Context, now time.Time) error

	// Close ends watches and gives resources back. What returned before is stored.
	Close() error
}

// The errors of a [Store], to be found by errors.Is.
var (
	ErrNotFound  error = constantError("store: no record has this key")
	ErrConflict  error = constantError("store: the record is not as expected")
	ErrCompacted error = constantError("store: the revision is compacted")
	ErrFuture    error = constantError("store: the revision is still to come")
	ErrClosed    error = constantError("store: it is closed")
)

// constantError is an error whose text is always the same, so that the log of a server shows it.
type constantError string

func (e constantError) Error() string   { return string(e) }
func (e constantError) LogText() string { return string(e) }

// Failure is the error of a store that could not read or keep something, such as on a full disk. Its text is for clients, and names no
// file, address or library; the cause is for the log.
//
// The text of a cause holds no record.
type Failure struct{ Cause error }

// Error says only that the storage failed.
func (f *Failure) Error() string { return "the storage failed; the log of the server says why" }

// LogText returns the text of the cause, for the log.
func (f *Failure) LogText() string { return f.Cause.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Checker is a [Store] that knows whether writes are kept.
type Checker interface {
	// Check returns the error of the last write if it could not be kept. It is nil when a later one could.
	Check() error
}

// CompactedError says that a revision is gone, and which is the oldest that is there. It is an [ErrCompacted].
type CompactedError struct{ Oldest Revision }

// Error says so. The wording may change.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("%v: the oldest is %d", ErrCompacted, e.Oldest)
}

// Unwrap returns ErrCompacted.
func (e *CompactedError) Unwrap() error { return ErrCompacted }

// ConflictError says that a write expected something else than what is stored. It is an [ErrConflict].
type ConflictError struct {
	Expected Revision
	Current  Record // what is stored; the zero Record if there is nothing
}

// Error says what was expected and what is there. The wording may change.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: it has revision %d, not %d", ErrConflict, e.Current.Revision, e.Expected)
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
