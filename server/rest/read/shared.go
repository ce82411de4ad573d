package read

import (
	"sync"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// What watches have in common. A write concerns all watches of its resource, and most of them need the same object, in the same form:
//
//	write ---> event of version v1 ---> decoded once ---> text as JSON    watch 1, watch 2, ...
//	                                                 ---> text as a Table watch 3, ...
//
// The cache holds the last events only. An older event is decoded again for the watch that lags behind.

// sharedEvents is the number of events that are cached with their objects and texts. Watches that keep up are all at the last few.
const sharedEvents = 1024

// eventKey identifies the object that a write left or replaced, in a version. It contains the key because etcd deletes all records of a
// lease at one revision.
type eventKey struct {
	key      string
	revision store.Revision
	version  *catalog.Version
	replaced bool
}

// shared holds what watches of the same version compute for the same write. Each part is computed once.
//
// once guards live, whole and err, and mu guards texts. mu is held while a text is made: watches that need the same text wait for it.
type shared struct {
	once  sync.Once
	live  Live
	whole value.Value
	err   error

	mu    sync.Mutex
	texts map[string][]byte
}

// Text returns the text with a name, from make on the first call. Callers must not modify it.
func (s *shared) Text(name string, make func() ([]byte, error)) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.texts[name]; ok {
		return text, nil
	}
	text, err := make()
	if err != nil {
		return nil, err
	}
	if s.texts == nil {
		s.texts = map[string][]byte{}
	}
	s.texts[name] = text
	return text, nil
}

// events caches the last events. The zero value is empty and ready. It is safe for concurrent use.
type events struct {
	mu sync.Mutex
	of map[eventKey]*shared
	// An element of the ring is the zero key while fewer events came than it has places.
	ring [sharedEvents]eventKey // the keys of of in order of arrival, from next on
	next int
}

// get returns the shared part of an event. A new event replaces the oldest one.
func (e *events) get(key eventKey) *shared {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.of[key]; s != nil {
		return s
	}
	if e.of == nil {
		e.of = map[eventKey]*shared{}
	}
	delete(e.of, e.ring[e.next])
	e.ring[e.next] = key
	e.next = (e.next + 1) % len(e.ring)
	s := &shared{}
	e.of[key] = s
	return s
}
