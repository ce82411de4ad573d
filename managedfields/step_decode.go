package managedfields

import (
	"errors"
	"fmt"
)

// Step Decode: the managed fields that a write starts from.

// decodeLive reads the managed fields from which an apply starts, S2: those of the live object.
// They must be valid.
func (r *request) decodeLive() (decoded, error) {
	d, err := decode(r.live.Entries, r.config.Types, r.config.Cache, r.config.Profile)
	if err != nil {
		return decoded{}, &decodeError{err}
	}
	return d, nil
}

// decodeError states why the managed fields of a live object are invalid. It has the words of
// kube-apiserver, except where these print the entry as a Go value. It wraps an [*EntryError],
// which names the entry.
type decodeError struct{ err error }

// Error returns the reason, in the words of kube-apiserver if the entry error is plain.
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

// decodeNewOrLive reads the managed fields from which an update starts:
//
//	S2  An apply starts from the live object's managed fields. An update starts from those of the
//	    new object, which [] and [{}] reset. If the new object has none or invalid ones, or if the
//	    endpoint is a subresource, the update starts from the live object's.
//
// A client can therefore edit managed fields in an update:
//
//   - An empty list, and a list of one empty entry, reset them: the object has no managers.
//   - A list of valid entries counts as it is.
//   - If the new object has none, or has invalid ones, those of the live object count.
//   - If the endpoint is a subresource, those of the live object always count.
//
// Invalid live entries count as none.
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
