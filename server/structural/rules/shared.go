package rules

import (
	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/value"
)

var shared = cache.ByText[*Rules]{Budget: 8 << 20}

// Shared is Compile with a cache for the whole process, keyed by the content of the schema. A schema is compiled again when the status of
// its definition is written, and by other servers in the same process.
func Shared(openAPIV3Schema value.Value) (*Rules, error) {
	return shared.Get(openAPIV3Schema.AppendJSON(nil), func() (*Rules, error) { return Compile(openAPIV3Schema) })
}
