package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// itemElement returns the path element of item in a list that l describes. It is false where items
// are not told apart, as in an atomic list, and for an item that has no identity: see rule V5 of
// [New]. The element is cut from m.
func itemElement(m *slab.Text, l *schema.List, item value.Value) (fieldpath.Element, bool) {
	if t := l.Topology(); t != schema.SetList && t != schema.KeyedList || defect(l, item) != "" {
		return fieldpath.Element{}, false
	}
	return elementOf(m, l, item), true
}
