package gen

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema"
)

// schemas is what this package needs of schema beyond its API.
var schemas = door.Open(schema.Internal{})
