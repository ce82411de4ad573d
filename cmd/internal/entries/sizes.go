package entries

import (
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Sizes holds the lengths in bytes of the JSON text of an object, of its managed fields, and of each entry.
type Sizes struct {
	Object, Managed int
	Entries         []int
}

// emptyMetadata is an object with empty metadata only, and aroundEntry the length of its text around a single entry.
var (
	emptyMetadata = value.Object(value.Member{Name: "metadata", Value: value.Object()})
	aroundEntry   = len(`{"metadata":{"managedFields":[]}}`)
)

// SizesOf measures o.
func SizesOf(o *manifest.Object) Sizes {
	s := Sizes{Object: len(o.Object.AppendJSON(nil)), Entries: make([]int, len(o.Entries))}
	bare := o.Object
	bare.Entries = nil
	s.Managed = s.Object - len(bare.AppendJSON(nil))
	for i, e := range o.Entries {
		one := managedfields.Object{Content: emptyMetadata, Entries: []managedfields.Entry{e}}
		s.Entries[i] = len(one.AppendJSON(nil)) - aroundEntry
	}
	return s
}
