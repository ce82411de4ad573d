package structs

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/value"
)

// values gives access to functions of package value outside its API.
var values = door.Open(value.Internal{})
