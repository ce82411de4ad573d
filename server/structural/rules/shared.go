package rules

import (
	"crypto/sha256"
	"sync"

	"github.com/deed-project/deed/value"
)

// sharedSchemas is how many compiled schemas a process remembers.
const sharedSchemas = 128

var shared struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]*Rules
}

// Shared is Compile for a schema that may have been compiled in the process before: when the status of its definition was written, or
// by another server. The last ones are remembered, by their content.
func Shared(openAPIV3Schema value.Value) (*Rules, error) {
	key := sha256.Sum256(openAPIV3Schema.AppendJSON(nil))
	shared.mu.Lock()
	r, known := shared.of[key]
	shared.mu.Unlock()
	if known {
		return r, nil
	}
	r, err := Compile(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.of == nil || len(shared.of) >= sharedSchemas {
		shared.of = map[[sha256.Size]byte]*Rules{}
	}
	shared.of[key] = r
	return r, nil
}
