package value

import (
	"slices"
	"strings"
)

// Field is a member of a map, such as a key field of a list item.
type Field struct {
	Name  string
	Value Value
}

// FieldList is a list of fields, by convention sorted by name.
type FieldList []Field

// Copy returns a copy of f. It shares the values of f.
func (f FieldList) Copy() FieldList { return append(make(FieldList, 0, len(f)), f...) }

// Sort sorts f by name. Fields with the same name keep their order.
func (f FieldList) Sort() {
	slices.SortStableFunc(f, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
}

// Less reports whether f sorts before rhs: see [FieldList.Compare].
func (f FieldList) Less(rhs FieldList) bool { return f.Compare(rhs) < 0 }

// Compare returns -1, 0 or 1 as f sorts before, with or after rhs: by the first name or value that differs. A prefix of a
// list sorts before the list. Both lists must be sorted.
func (f FieldList) Compare(rhs FieldList) int {
	return slices.CompareFunc(f, rhs, func(a, b Field) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return Compare(a.Value, b.Value)
	})
}

// Equals reports whether f and rhs have the same names and values in the same order.
func (f FieldList) Equals(rhs FieldList) bool {
	return slices.EqualFunc(f, rhs, func(a, b Field) bool { return a.Name == b.Name && Equals(a.Value, b.Value) })
}
