package dryrun

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/typed"
)

// The internals of lower packages that this package uses beyond their API.
var (
	typing   = door.Open(typed.Internal{})
	owning   = door.Open(ownership.Internal{})
	merging  = door.Open(merge.Internal{})
	managing = door.Open(managedfields.Internal{})
)
