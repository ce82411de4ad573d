package read

import (
	"sync"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
)

// sharedEvents is how many events of the store are remembered as objects and as the texts that watchers get of them. Watchers that
// keep up are all at the last few.
const sharedEvents = 1024

// eventKey names the object that a write left or replaced, as a version shows it. The key is a part of it because etcd deletes all
// records of a lease at one revision.
type eventKey struct {
	key      string
	revision store.Revision
	version  *catalog.Version
	replaced bool
}

// shared is what watchers of the same version make of the same write: each does it once, for all.
type shared struct {
	once  sync.Once
	live  Live
	whole value.Value
	err   error

	mu    sync.Mutex
	texts map[string][]byte
}

// Text returns the text that is called name, which make makes if nobody did before. Nobody may modify it.
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

// events remembers the last events. The zero events are none and ready. They are safe for concurrent use.
type events struct {
	mu   sync.Mutex
	of   map[eventKey]*shared
	ring [sharedEvents]eventKey // the keys of of, in the order in which they came, from next on
	next int
}

// get returns what is shared of an event. The one that came first is forgotten for a new one.
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
