// Package memo caches values that are made of texts, for the whole process. Tests start many servers with the same definitions, and a
// process should compile each once.
package memo

import (
	"crypto/sha256"

	"github.com/deed-project/deed/server/cache"
)

// Of caches values of type V by the text that each was made of. It is safe for concurrent use.
type Of[V any] struct {
	Budget int // bound on the bytes of all texts

	made cache.Cache[[sha256.Size]byte, V]
}

// Get returns the cached value of text, or else the result of make, which it caches. It does not cache errors. Concurrent calls with the
// same text may all call make.
func (o *Of[V]) Get(text []byte, make func() (V, error)) (V, error) {
	key := sha256.Sum256(text)
	if v, ok := o.made.Get(key); ok {
		return v, nil
	}
	v, err := make()
	if err == nil {
		o.made.Put(key, v, len(text), o.Budget)
	}
	return v, err
}
