package extras

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/typed"
)

var (
	merging = door.Open(merge.Internal{})
	typing  = door.Open(typed.Internal{})
	owning  = door.Open(ownership.Internal{})
)
