// Package store defines where an API server keeps its objects. A store knows nothing of objects: it holds records, which are texts with
// keys, and counts writes as revisions.
//
// Every write makes a new revision of the whole store. Records can be read at an earlier revision, and events can be watched from it, until
// the revision is compacted. So clients read a consistent list page by page, and then follow changes from exactly the revision of the list.
//
// [Store] is the contract. Package storetest has tests of the contract, which every implementation passes. Package memory keeps records in
// the process, package file also on disk, and package etcd in an etcd cluster that several servers share.
package store

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Revision numbers the states of a store. An empty store has revision 1, and each write makes a larger one.
type Revision int64

// Record is a text under a key.
type Record struct {
	Key               string
	Text              []byte   // shared with the store; callers must not modify it
	Created, Revision Revision // the revision that created the key, and the revision that wrote this text
}

// Range selects records whose keys begin with Prefix and are greater than After in bytewise order.
type Range struct {
	Prefix, After string
	Limit         int      // largest number of records; 0 for no limit
	At            Revision // 0 for the latest
}

// Page is the outcome of reading a [Range].
type Page struct {
	Records   []Record
	Revision  Revision // of all records: At, or the latest
	Remaining int      // number of records of the range after the page
}

// Event is one write: a put of Record, or the deletion of the record under its key.
type Event struct {
	Record   // a deletion has the key, Created, and the revision of the deletion
	Deleted  bool
	Previous []byte // the text before the write, shared with the store; nil if there was none
}

// Batch holds events of a watch. It has all events up to Revision that earlier batches did not have. A batch without events reports that
// nothing happened up to Revision.
type Batch struct {
	Events   []Event // by revision
	Revision Revision
}

// Store holds records. Its methods are safe for concurrent use and linearizable: a read sees every write that had returned when the read
// began. If the context is already done, a method returns the context's error; after Close it returns [ErrClosed]. After any other error
// that the method does not list, a write may or may not have happened.
type Store interface {
	// Get returns the record of a key at a revision; 0 is the latest. The error is ErrNotFound if there is no record, ErrCompacted or
	// ErrFuture.
	Get(ctx context.Context, key string, at Revision) (Record, error)

	// Range returns the records of a range at one revision. The error is ErrCompacted or ErrFuture.
	Range(ctx context.Context, r Range) (Page, error)

	// Put stores a text and returns the revision. The caller must not modify the text afterwards. If expect is 0, the key must have no
	// record; otherwise its record must have revision expect. If that does not hold, the error is a *ConflictError.
	Put(ctx context.Context, key string, text []byte, expect Revision) (Revision, error)

	// PutUntil is Put for a record with an expiry time; see Expire. A later Put removes the expiry time.
	PutUntil(ctx context.Context, key string, text []byte, expect Revision, until time.Time) (Revision, error)

	// Delete deletes the record of a key and returns the revision of the deletion. If expect is not 0, the record must have revision
	// expect; otherwise the error is a *ConflictError. Without a record the error is ErrNotFound, even if expect is not 0.
	Delete(ctx context.Context, key string, expect Revision) (Revision, error)

	// Watch returns the events after a revision on keys that begin with prefix, each exactly once, as they happen. A watch from a future
	// revision waits for that revision. The error is a *CompactedError if events after the revision are compacted.
	//
	// The sequence ends when ctx is done. It ends with a *CompactedError if the reader falls behind the compacted revision, and with
	// ErrClosed after Close. A reader that stops early leaks nothing. The sequence can be iterated once.
	Watch(ctx context.Context, prefix string, after Revision) (iter.Seq2[Batch, error], error)

	// Since returns the events after a revision on keys that begin with prefix, up to the latest revision, in one batch. Callers use it to
	// bring a cache of the store up to date on demand. The error is a *CompactedError if events after the revision are compacted,
	// ErrFuture, or errors.ErrUnsupported if the store cannot know that its events are complete.
	Since(ctx context.Context, prefix string, after Revision) (Batch, error)

	// Compact drops the history before a revision. Reads at that revision and later, and watches after it, still work. Compacting again to
	// the same or an earlier revision does nothing. The error is ErrFuture if the revision does not exist yet.
	Compact(ctx context.Context, to Revision) error

	// Expire deletes the records whose expiry time is not after now. Each deletion is a write like any other. In stores that expire records
	// themselves, Expire does nothing.
	Expire(ctx context.Context, now time.Time) error

	// Close ends watches and releases resources. Every write that returned before stays stored.
	Close() error
}

// Errors of a [Store], to be tested with errors.Is.
var (
	ErrNotFound  error = constantError("store: no record has this key")
	ErrConflict  error = constantError("store: the record is not as expected")
	ErrCompacted error = constantError("store: the revision is compacted")
	ErrFuture    error = constantError("store: the revision is still to come")
	ErrClosed    error = constantError("store: it is closed")
)

// constantError is an error with a constant text, which the log of a server may therefore show.
type constantError string

// Error and LogText return the text.
func (e constantError) Error() string   { return string(e) }
func (e constantError) LogText() string { return string(e) }

// Failure is the error of a store that failed to read or write, for example because the disk is full. Its text is for clients, and names no
// file, address or library. The cause is for the log; its text must not contain a record.
type Failure struct{ Cause error }

// Error returns a text that only says that the storage failed.
func (f *Failure) Error() string { return "the storage failed; the log of the server says why" }

// LogText returns the text of the cause, for the log.
func (f *Failure) LogText() string { return f.Cause.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Cause }

// Checker is a [Store] that reports whether it can write.
type Checker interface {
	// Check returns the error of the last commit, or nil if the commit succeeded.
	Check() error
}

// CompactedError says that a revision is compacted, and names the oldest revision that is not. It wraps [ErrCompacted].
type CompactedError struct{ Oldest Revision }

// Error returns a text whose wording may change.
func (e *CompactedError) Error() string {
	return fmt.Sprintf("%v: the oldest is %d", ErrCompacted, e.Oldest)
}

// Unwrap returns ErrCompacted.
func (e *CompactedError) Unwrap() error { return ErrCompacted }

// ConflictError says that a write expected another revision than the stored one. It wraps [ErrConflict].
type ConflictError struct {
	Expected Revision
	Current  Record // the stored record; the zero Record if there is none
}

// Error returns a text with both revisions. Its wording may change.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: it has revision %d, not %d", ErrConflict, e.Current.Revision, e.Expected)
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }
