package typed_test

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/typed"
)

var (
	paths  = door.Open(fieldpath.Internal{})
	typing = door.Open(typed.Internal{})
)
