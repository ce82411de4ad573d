package fieldpath_test

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
)

var paths = door.Open(fieldpath.Internal{})
