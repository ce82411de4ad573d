package report

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

// typing is what this package needs of typed beyond its API.
var typing = door.Open(typed.Internal{})
