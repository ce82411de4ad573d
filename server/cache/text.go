package cache

import "crypto/sha256"

// ByText keeps values of type V, each by the text that it was made of. It is safe for concurrent use.
type ByText[V any] struct {
	Budget int // bytes that the texts may have together

	made Cache[[sha256.Size]byte, V]
}

// Get returns what make makes of text, or made of it before. Errors are not kept. Several goroutines that ask at the same time may all make
// it.
func (o *ByText[V]) Get(text []byte, make func() (V, error)) (V, error) {
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
