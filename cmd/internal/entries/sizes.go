package entries

import (
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/value"
)

// Sizes are how many bytes the JSON text of an object has, of its managed fields, and of each of
// their entries.
type Sizes struct {
	Object, Managed int
	Entries         []int
}

// emptyMetadata is an object with nothing but empty metadata, and aroundEntry the text that it has
// around an only entry.
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
