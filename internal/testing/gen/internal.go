package gen

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema"
)

// schemas is the internal API of schema.
var schemas = door.Open(schema.Internal{})
