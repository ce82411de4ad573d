package rules

import (
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/value"
)

var shared = cache.ByText[*Rules]{Budget: 8 << 20}

// Shared is Compile for a schema that may have been compiled in the process before: when the status of its definition was written, or
// by another server. The last ones are remembered, by their content.
func Shared(openAPIV3Schema value.Value) (*Rules, error) {
	return shared.Get(openAPIV3Schema.AppendJSON(nil), func() (*Rules, error) { return Compile(openAPIV3Schema) })
}
