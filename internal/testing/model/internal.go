package model

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

// typing is the internal API of typed.
var typing = door.Open(typed.Internal{})
