package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// itemElement returns the path element of item in a list that l describes. It returns false if the
// items of l have no identity, as in an atomic list, or if item has none: see rule V5 of [New]. The
// text of the element is cut from m.
func itemElement(m *slab.Text, l *schema.List, item value.Value) (fieldpath.Element, bool) {
	if t := l.Topology(); t != schema.SetList && t != schema.KeyedList || defect(l, item) != "" {
		return fieldpath.Element{}, false
	}
	return elementOf(m, l, item), true
}
