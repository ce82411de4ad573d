package dryrun

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
)

// What this package needs of the packages below beyond their API.
var (
	merging  = door.Open(merge.Internal)
	managing = door.Open(managedfields.Internal)
)
