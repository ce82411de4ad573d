package ownership_test

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
)

var (
	merging = door.Open(merge.Internal{})
	owning  = door.Open(ownership.Internal{})
)
