package types

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
)

// The internals of lower packages that this package uses beyond their API.
var (
	schemas  = door.Open(schema.Internal{})
	typing   = door.Open(typed.Internal{})
	managing = door.Open(managedfields.Internal{})
)
