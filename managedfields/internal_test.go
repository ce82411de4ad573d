package managedfields_test

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/door"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
)

var (
	paths    = door.Open(fieldpath.Internal{})
	schemas  = door.Open(schema.Internal{})
	merging  = door.Open(merge.Internal{})
	managing = door.Open(managedfields.Internal{})
)
