package managedfields

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
)

// paths is what this package needs of fieldpath beyond its API.
var paths = door.Open(fieldpath.Internal)
