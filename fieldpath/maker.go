package fieldpath

import (
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// Maker makes keys and items in bulk. Their text is cut from slabs that they share, so a Maker
// allocates about once in a hundred elements, and an element that is kept keeps the slab it was cut
// from. The zero Maker is ready. A Maker must not be copied after its first use, nor used by two
// goroutines at once; its elements are free of both rules.
type Maker struct {
	slab    strings.Builder // its buffer is allocated once and never outgrown, so what was cut from it stays put
	scratch []byte
	sorted  []KeyField
}

// Slabs grow from the smallest to the largest size.
const (
	minSlab = 256
	maxSlab = 4096
)

// Key is like the function [Key]. It does not retain fields.
func (m *Maker) Key(fields []KeyField) Element {
	if !slices.IsSortedFunc(fields, compareFieldNames) {
		m.sorted = append(m.sorted[:0], fields...) // a copy, so that the caller's slice can stay on its stack
		slices.SortStableFunc(m.sorted, compareFieldNames)
		fields = m.sorted
	}
	m.scratch = appendKey(m.scratch[:0], fields)
	return Element{KindKey, m.cut(m.scratch)}
}

// Item is like the function [Item].
func (m *Maker) Item(v value.Value) Element {
	m.scratch = appendValue(m.scratch[:0], v)
	return Element{KindItem, m.cut(m.scratch)}
}

// cut returns a copy of text that lies in the slab.
func (m *Maker) cut(text []byte) string {
	if m.slab.Cap()-m.slab.Len() < len(text) {
		size := max(len(text), min(max(2*m.slab.Cap(), minSlab), maxSlab))
		m.slab.Reset()
		m.slab.Grow(size)
	}
	start := m.slab.Len()
	m.slab.Write(text)
	return m.slab.String()[start:]
}
