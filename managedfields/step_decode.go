package managedfields

import (
	"errors"
	"fmt"
)

// Step Decode: the managed fields that a write starts from.

// decodeLive reads the managed fields that an apply starts from, S2: those of the live object,
// which must be valid.
func (r *request) decodeLive() (decoded, error) {
	d, err := decode(r.live.Entries, r.config.Types, r.config.Cache, r.config.Profile)
	if err != nil {
		return decoded{}, &decodeError{err}
	}
	return d, nil
}

// decodeError says why the managed fields of a live object cannot be read, in the words of
// kube-apiserver as far as those do not print the entry as a Go value. It wraps an [*EntryError],
// which says which entry it is.
type decodeError struct{ err error }

// Error returns the reason, in the words of kube-apiserver where it has words for it.
func (e *decodeError) Error() string {
	reason := e.err
	var entry *EntryError
	if errors.As(reason, &entry) && entry.plain {
		reason = entry.Err
	}
	return fmt.Sprintf("failed to decode managed fields: %v", reason)
}

// Unwrap returns the [*EntryError].
func (e *decodeError) Unwrap() error { return e.err }

// decodeNewOrLive reads the managed fields that a write starts from if it is an update:
//
//	S2  An apply starts from the live object's managed fields. An update starts from those of the
//	    new object, which [] and [{}] reset; where that has none or has invalid ones, from the
//	    live object's; through a subresource always from the live object's.
//
// So a client may edit them by sending others:
//
//   - An empty list, and a list of one empty entry, reset them: nobody owns anything.
//   - A list of valid entries counts as it is.
//   - Where the new object has none, or has invalid ones, those of the live object count.
//   - Where the endpoint is a subresource, those of the live object count whatever the new object
//     has.
//
// Live entries that are invalid count as none.
func (r *request) decodeNewOrLive() decoded {
	if entries := r.object.Entries; r.config.Subresource == "" && entries != nil {
		if len(entries) == 0 || len(entries) == 1 && entries[0].isZero() {
			return decoded{}
		}
		if d, err := decode(entries, r.config.Types, r.config.Cache, r.config.Profile); err == nil {
			return d
		}
	}
	d, err := decode(r.live.Entries, r.config.Types, r.config.Cache, r.config.Profile)
	if err != nil {
		return decoded{}
	}
	return d
}
