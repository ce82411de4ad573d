package read

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/errors"
)

// Bounds of what lists hold that are held whole until they are sent, which those in YAML and CBOR are, and those of metadata only.
const (
	// freeRoom is up to how many bytes of stored text a list takes no room.
	freeRoom = 1 << 20
	// maxRoom is how many bytes of stored text such lists hold at once. A single list may be of more.
	maxRoom = 128 << 20
)

// room counts the stored text of lists that are held. It is safe for concurrent use; the zero room holds none.
type room struct{ held atomic.Int64 }

// take makes room for n more bytes of a list that has got own already. The error is a 429 if others have taken it.
func (r *room) take(own, n int64) error {
	if all := r.held.Add(n); all > maxRoom && all > own+n {
		r.held.Add(-n)
		return errors.NewTooManyRequests("lists that are being sent hold as much memory as they may: ask for pages, or for JSON, which is sent as it is read", 1)
	}
	return nil
}

// share is what one list holds of the room.
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
	more := s.listed - s.holds
	if err := s.of.take(s.holds, more); err != nil {
		return err
	}
	s.holds += more
	return nil
}

// leave gives back what the list holds.
func (s *share) leave() {
	s.of.held.Add(-s.holds)
	s.holds = 0
}
