package store

import (
	"context"
	"time"
)

// Window says how much of its past a store keeps, for clients that read on or come back: all
// revisions of some time, but not more than some number, nor more than some bytes. The zero Window keeps nothing but what is
// stored.
type Window struct {
	Age   time.Duration
	Count int   // of revisions; 0 is no limit
	Bytes int64 // of the texts that only the past has, in a store that is a [Sized]; 0 is no limit
}

// Sized is a [Store] whose past takes memory.
type Sized interface {
	Store
	// PastBytes returns how many bytes the texts have that were replaced or deleted, and can be read yet. It costs nothing.
	PastBytes() int64
	// Within returns the first revision behind which no more than some bytes were replaced or deleted. It costs the number of revisions
	// behind it.
	Within(bytes int64) Revision
}

// Keeper compacts a store to its window, and deletes what is over, as time goes by. It knows the
// time by what it is told, and remembers which revision was the latest then. It is not safe for
// concurrent use.
type Keeper struct {
	store   Store
	window  Window
	samples []sample // in the order of time; the first is the last one that is outside of the window, if there is one
}

type sample struct {
	at     time.Time
	latest Revision
}

// NewKeeper returns the keeper of a store. Somebody has to call its Tick.
func NewKeeper(s Store, w Window) *Keeper { return &Keeper{store: s, window: w} }

// IsFull reports whether the past has more bytes than the window, so that Tick is due. It costs nothing.
func (k *Keeper) IsFull() bool {
	sized, ok := k.store.(Sized)
	return ok && k.window.Bytes > 0 && sized.PastBytes() > k.window.Bytes
}

// Tick does what is due at now: it is to be called now and then, at intervals that are small beside
// the window's age. What it does late it does not do wrong: more of the past stays meanwhile. Time
// that goes back counts as time that stands still. It remembers as many calls as are in the
// window's age.
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
	outside := 0 // how many samples are, all but the last of which are of no more use
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
