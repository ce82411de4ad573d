package store

import (
	"context"
	"time"
)

// How long a store keeps its history. With an age of 5 minutes and a Tick each minute:
//
//	samples    12:00 r10   12:01 r14   12:02 r14 ... 12:05 r90   12:06 r95
//	at 12:06   12:01 and before are 5 minutes old: the history before r14 can go
//
// A sample is what the latest revision was at a time. The last one outside of the window is the boundary: all revisions since then are
// younger.

// Window bounds the history that a store keeps for clients that continue a list or resume a watch. The store keeps all revisions of some
// age, but at most a number of revisions and of bytes. The zero Window keeps only the current records.
type Window struct {
	Age   time.Duration
	Count int   // of revisions; 0 for no limit
	Bytes int64 // of texts that are only in the history, in a store that is a [Sized]; 0 for no limit
}

// Sized is a [Store] whose history takes memory.
type Sized interface {
	Store
	// PastBytes returns the bytes of replaced and deleted texts that can still be read. It takes constant time.
	PastBytes() int64
	// Within returns the first revision after which at most the given number of bytes were replaced or deleted. Its cost grows with the
	// number of revisions after it.
	Within(bytes int64) Revision
}

// Keeper compacts a store to its window and expires records. The caller passes the time to Tick; for each call, the keeper remembers the
// latest revision. It is not safe for concurrent use.
type Keeper struct {
	store   Store
	window  Window
	samples []sample // by time; only the first may be outside of the window
}

// sample is the latest revision at a time.
type sample struct {
	at     time.Time
	latest Revision
}

// NewKeeper returns the keeper of a store. The caller must call Tick regularly.
func NewKeeper(s Store, w Window) *Keeper { return &Keeper{store: s, window: w} }

// IsFull reports whether the history has more bytes than the window allows, so that Tick is due. It takes constant time.
func (k *Keeper) IsFull() bool {
	sized, ok := k.store.(Sized)
	return ok && k.window.Bytes > 0 && sized.PastBytes() > k.window.Bytes
}

// Tick compacts and expires what is due at now. The caller should call it at intervals that are small beside the window's age. A late call
// is harmless: the history just stays longer. A time before the previous call counts as the time of that call. The keeper holds one sample
// for each call within the window's age.
func (k *Keeper) Tick(ctx context.Context, now time.Time) error {
	if err := k.store.Expire(ctx, now); err != nil {
		return err
	}
	latest, err := Latest(ctx, k.store)
	if err != nil {
		return err
	}
	if n := len(k.samples); n > 0 && now.Before(k.samples[n-1].at) {
		now = k.samples[n-1].at
	}
	k.samples = append(k.samples, sample{now, latest})
	outside := 0 // number of samples outside; all but the last of them are useless
	for outside < len(k.samples) && !k.samples[outside].at.After(now.Add(-k.window.Age)) {
		outside++
	}
	k.samples = k.samples[max(0, outside-1):]
	var to Revision
	if outside > 0 {
		to = k.samples[0].latest
	}
	if k.window.Count > 0 {
		to = max(to, latest-Revision(k.window.Count))
	}
	if k.IsFull() {
		to = max(to, k.store.(Sized).Within(k.window.Bytes))
	}
	// Nothing is outside, or nothing was ever written.
	if to <= 1 {
		return nil
	}
	return k.store.Compact(ctx, to)
}

// Latest returns the latest revision of a store.
func Latest(ctx context.Context, s Store) (Revision, error) {
	page, err := s.Range(ctx, Range{Prefix: "\x00", Limit: 1}) // no key has this prefix
	return page.Revision, err
}
