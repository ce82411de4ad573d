package report

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

// typing gives access to the internals of typed beyond its API.
var typing = door.Open(typed.Internal{})
