package fieldpath

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// PathElement is one step of a [Path]: exactly one of its fields is not nil.
type PathElement struct {
	// FieldName selects a member of a map by its name.
	FieldName *string

	// Key selects the item of a list that has these fields, which are sorted by name.
	Key *value.FieldList

	// Value selects the item of a list that equals it.
	Value *value.Value

	// Index selects the item of a list that is at this position.
	Index *int
}

// FieldNameElement returns the element that selects the member called name.
func FieldNameElement(name string) PathElement { return PathElement{FieldName: &name} }

// KeyElement returns the element that selects the item with these fields, sorted by name. The element keeps the slice.
func KeyElement(fields ...value.Field) PathElement {
	l := value.FieldList(fields)
	return PathElement{Key: &l}
}

// KeyElementByFields returns the element of the key that [KeyByFields] returns.
func KeyElementByFields(nameValues ...any) PathElement {
	return PathElement{Key: KeyByFields(nameValues...)}
}

// ValueElement returns the element that selects the item that equals value.
func ValueElement(value value.Value) PathElement { return PathElement{Value: &value} }

// IndexElement returns the element that selects item number index, counted from 0.
func IndexElement(index int) PathElement { return PathElement{Index: &index} }

// KeyByFields returns the key of fields that are given as a name, a value, a name, and so on. It panics if a name is not a
// string, or the last value is missing.
func KeyByFields(nameValues ...interface{}) *value.FieldList {
	if len(nameValues)%2 != 0 {
		panic("must have a value for every name")
	}
	key := value.FieldList{}
	for i := 0; i < len(nameValues); i += 2 {
		key = append(key, value.Field{Name: nameValues[i].(string), Value: value.NewValueInterface(nameValues[i+1])})
	}
	key.Sort()
	return &key
}

// kind returns the place of e's kind in the order of elements. An element without a field comes last.
func (e PathElement) kind() int {
	switch {
	case e.FieldName != nil:
		return 0
	case e.Key != nil:
		return 1
	case e.Value != nil:
		return 2
	case e.Index != nil:
		return 3
	}
	return 4
}

// Less reports whether e sorts before rhs: see [PathElement.Compare].
func (e PathElement) Less(rhs PathElement) bool { return e.Compare(rhs) < 0 }

// Compare returns -1, 0 or 1 as e sorts before, with or after rhs: names before keys before values before indexes.
func (e PathElement) Compare(rhs PathElement) int {
	kind := e.kind()
	if c := cmp.Compare(kind, rhs.kind()); c != 0 {
		return c
	}
	switch kind {
	case 0:
		return strings.Compare(*e.FieldName, *rhs.FieldName)
	case 1:
		return e.Key.Compare(*rhs.Key)
	case 2:
		return value.Compare(*e.Value, *rhs.Value)
	case 3:
		return cmp.Compare(*e.Index, *rhs.Index)
	}
	return 0
}

// Equals reports whether e and rhs select the same member or item.
func (e PathElement) Equals(rhs PathElement) bool {
	kind := e.kind()
	if kind != rhs.kind() {
		return false
	}
	switch kind {
	case 0:
		return *e.FieldName == *rhs.FieldName
	case 1:
		return e.Key.Equals(*rhs.Key)
	case 2:
		return value.Equals(*e.Value, *rhs.Value)
	case 3:
		return *e.Index == *rhs.Index
	}
	return true
}

// String returns e as messages show it: .name, [name="web",port=80], [="item"] or [3].
func (e PathElement) String() string {
	switch e.kind() {
	case 0:
		return "." + *e.FieldName
	case 1:
		fields := make([]string, len(*e.Key))
		for i, f := range *e.Key {
			fields[i] = f.Name + "=" + value.ToString(f.Value)
		}
		return "[" + strings.Join(fields, ",") + "]"
	case 2:
		return "[=" + value.ToString(*e.Value) + "]"
	case 3:
		return fmt.Sprintf("[%d]", *e.Index)
	}
	return "{{invalid path element}}"
}

// Copy returns a copy of e. It shares the values of e.
func (e PathElement) Copy() PathElement {
	if e.Key == nil {
		return e
	}
	key := e.Key.Copy()
	return PathElement{Key: &key}
}
