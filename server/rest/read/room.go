package read

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/errors"
)

// Bounds on lists that are held in memory until they are sent: those in YAML and CBOR, and those of metadata only.
const (
	// freeRoom is the stored text up to which a list does not count.
	freeRoom = 1 << 20
	// maxRoom bounds the stored text of all such lists. A single list may exceed it.
	maxRoom = 128 << 20
)

// room counts the stored text of held lists. The zero room is empty. It is safe for concurrent use.
//
// It is a count, not a queue: a list that finds no room is refused at once, and the client tries again after a second.
type room struct{ held atomic.Int64 }

// take reserves n more bytes for a list that has reserved own. It is a 429 if other lists hold too much.
//
// The room is taken first and given back if it was too much. So lists that come together cannot all find the same room free.
func (r *room) take(own, n int64) error {
	if all := r.held.Add(n); all > maxRoom && all > own+n {
		r.held.Add(-n)
		return errors.NewTooManyRequests("lists that are being sent hold as much memory as they may: ask for pages, or for JSON, which is sent as it is read", 1)
	}
	return nil
}

// share is what one list holds of the room.
//
// It belongs to the goroutine of the list. Invariant: holds is 0 while listed is at most freeRoom, and equals listed afterwards, unless the
// list was refused.
type share struct {
	of     *room
	listed int64 // bytes of stored text of the list
	holds  int64 // bytes of them that count for the room
}

// hold makes room for n more bytes of stored text, until leave.
func (s *share) hold(n int) error {
	s.listed += int64(n)
	if s.listed <= freeRoom {
		return nil
	}
	// The first bytes beyond freeRoom make the whole list count.
	more := s.listed - s.holds
	if err := s.of.take(s.holds, more); err != nil {
		return err
	}
	s.holds += more
	return nil
}

// leave gives back what the list holds.
// It may be called again, and then gives back nothing.
func (s *share) leave() {
	s.of.held.Add(-s.holds)
	s.holds = 0
}
