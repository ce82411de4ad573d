package openapi

import (
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/schema"
)

var schemas = door.Open(schema.Internal{})
