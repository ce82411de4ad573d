package typed

import (
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/value"
)

// At returns what v has at path, and absent when it has nothing there. Of items that are there several times it is the
// first.
func (v Value) At(path fieldpath.Path) value.Value {
	t, at := v.typ, v.content
	var maker fieldpath.Maker
	for _, e := range path {
		if t == nil {
			return value.Value{}
		}
		switch e.Kind() {
		case fieldpath.KindField:
			if t.Map() == nil {
				return value.Value{}
			}
			at = at.Get(e.Name())
			t, _ = t.Map().Lookup(e.Name())
		case fieldpath.KindIndex:
			if i := e.Index(); t.List() == nil || at.Kind() != value.KindList || i < 0 || i >= at.Len() {
				return value.Value{}
			}
			at, t = at.Item(e.Index()), t.List().Element()
		default:
			at, t = findItem(&maker, t.List(), at, e), elementType(t)
		}
	}
	return at
}

func elementType(t *schema.Type) *schema.Type {
	if t.List() == nil {
		return nil
	}
	return t.List().Element()
}

// findItem returns the first item of v that e names, and absent when there is none.
func findItem(m *fieldpath.Maker, l *schema.List, v value.Value, e fieldpath.Element) value.Value {
	if l == nil || l.Topology() != schema.SetList && l.Topology() != schema.KeyedList {
		return value.Value{}
	}
	for item := range v.Items() {
		if defect(l, item) == "" && elementOf(m, l, item) == e {
			return item
		}
	}
	return value.Value{}
}
