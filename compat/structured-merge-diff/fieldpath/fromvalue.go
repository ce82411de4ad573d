package fieldpath

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// AssociativeListCandidateFieldNames are the fields that [SetFromValue] uses as keys of list items.
var AssociativeListCandidateFieldNames = []string{
	"key",
	"id",
	"name",
}

// SetFromValue returns the paths of all scalars and nulls in v, which has no known type. A path selects an item by its scalar
// fields with names in [AssociativeListCandidateFieldNames]. If it has no such fields, the path selects it by its index.
func SetFromValue(v value.Value) *Set {
	s := &Set{}
	addLeaves(s, nil, v)
	return s.tree()
}

// addLeaves adds the leaves of v, which is at path, to s.
func addLeaves(s *Set, path Path, v value.Value) {
	switch {
	case v.IsList():
		l := v.AsList()
		for i := range l.Length() {
			item := l.At(i)
			addLeaves(s, append(slices.Clip(path), guessElement(i, item)), item)
		}
	case v.IsMap():
		v.AsMap().Iterate(func(name string, member value.Value) bool {
			addLeaves(s, append(slices.Clip(path), PathElement{FieldName: &name}), member)
			return true
		})
	default:
		s.Insert(path)
	}
}

// guessElement returns the element of item number i of a list.
func guessElement(i int, item value.Value) PathElement {
	var key value.FieldList
	if item.IsMap() {
		m := item.AsMap()
		for _, name := range AssociativeListCandidateFieldNames {
			if v, ok := m.Get(name); ok && !v.IsNull() && !v.IsMap() && !v.IsList() {
				key = append(key, value.Field{Name: name, Value: v})
			}
		}
	}
	if len(key) == 0 {
		return PathElement{Index: &i}
	}
	key.Sort()
	return PathElement{Key: &key}
}
