package openapi

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema"
)

// schemas gives access to the functions of package schema outside its API.
var schemas = door.Open(schema.Internal{})
