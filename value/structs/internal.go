package structs

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/value"
)

// values is what this package needs of value beyond its API.
var values = door.Open(value.Internal{})
