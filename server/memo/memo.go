// Package memo remembers what was made of texts, so that a process makes it once: tests start many servers with the same definitions.
package memo

import (
	"crypto/sha256"
	"sync"
)

// Of remembers values of type V, each by the text that it was made of. It is safe for concurrent use.
type Of[V any] struct {
	Most int // how many bytes the texts that it knows have together at most; before they have more, it forgets all of them

	mu    sync.Mutex
	known map[[sha256.Size]byte]V
	bytes int // of the texts of known
}

// Get returns what make makes of text, or made of it before. An error is not remembered, nor is what is made of a text of more than Most bytes. Several goroutines that ask at once may all make
// it.
func (o *Of[V]) Get(text []byte, make func() (V, error)) (V, error) {
	key := sha256.Sum256(text)
	o.mu.Lock()
	v, ok := o.known[key]
	o.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if len(text) > o.Most {
		return v, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil || o.bytes+len(text) > o.Most {
		o.known, o.bytes = map[[sha256.Size]byte]V{}, 0
	}
	if _, ok := o.known[key]; !ok { // another goroutine may have made it meanwhile
		o.bytes += len(text)
	}
	o.known[key] = v
	return v, nil
}
