package fieldpath

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/value"
)

// Kind says how an [Element] selects. The zero Element has the zero Kind.
type Kind uint8

// The kinds of elements, in sort order.
const (
	KindField Kind = iota + 1 // a member of an object, by its name
	KindKey                   // an item of a keyed list, by the values of its key fields
	KindItem                  // an item of a set list, by its value
	KindIndex                 // an item of a list, by its position
)

// Element is one step of a [Path]. Two elements are equal exactly when == says so. In a [Pattern],
// the zero Element stands for every element. In a [Set], it stands for all list items without
// identity. The zero Element has no name in fieldsV1.
type Element struct {
	kind Kind
	// text encodes what the element selects by. Among elements of one kind, texts sort as the
	// elements do, and equal elements have equal texts:
	//
	//	Field  the name
	//	Key    for each field in name order: appendText(name), appendValue(value)
	//	Item   appendValue(value)
	//	Index  the number, big-endian, its sign bit flipped
	text string
}

// KeyField is one field of a key: its name, and the value that an item must have there.
type KeyField struct {
	Name  string
	Value value.Value
}

// Field returns the element that selects the member of an object with this name.
func Field(name string) Element { return Element{KindField, name} }

// Key returns the element that selects the item of a keyed list with these fields. The order of
// fields matters only between fields with the same name. Numbers select by value: 1 and 1.0 give
// the same element. The absent value counts as null.
func Key(fields ...KeyField) Element {
	var buf [128]byte
	return Element{KindKey, string(appendKey(buf[:0], sortedFields(fields)))}
}

// Item returns the element that selects the item of a set list that equals v. The absent value
// counts as null.
func Item(v value.Value) Element {
	var buf [128]byte
	return Element{KindItem, string(appendValue(buf[:0], v))}
}

// Index returns the element that selects item i of a list, counted from 0.
func Index(i int) Element {
	var buf [8]byte
	return Element{KindIndex, string(appendIndex(buf[:0], i))}
}

// cutKey is [Key] with its text cut from t. It does not retain fields.
func cutKey(t *slab.Text, fields []KeyField) Element {
	if !slices.IsSortedFunc(fields, compareFieldNames) {
		var room [8]KeyField // a copy, so that the caller's slice can stay on the caller's stack
		sorted := append(room[:0], fields...)
		slices.SortStableFunc(sorted, compareFieldNames)
		fields = sorted
	}
	t.Scratch = appendKey(t.Scratch[:0], fields)
	return Element{KindKey, t.Cut(t.Scratch)}
}

// cutItem is [Item] with its text cut from t.
func cutItem(t *slab.Text, v value.Value) Element {
	t.Scratch = appendValue(t.Scratch[:0], v)
	return Element{KindItem, t.Cut(t.Scratch)}
}

// sortedFields returns fields sorted by name. Fields with equal names keep their order. If fields
// are not sorted, it sorts a copy.
func sortedFields(fields []KeyField) []KeyField {
	if slices.IsSortedFunc(fields, compareFieldNames) {
		return fields
	}
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, compareFieldNames)
	return fields
}

// compareFieldNames orders the fields of a key by name.
func compareFieldNames(a, b KeyField) int { return strings.Compare(a.Name, b.Name) }

// Kind returns the kind of e.
func (e Element) Kind() Kind { return e.kind }

// Name returns the name that a field selects, and "" for every other kind.
func (e Element) Name() string {
	if e.kind != KindField {
		return ""
	}
	return e.text
}

// Fields returns the fields of a key in name order, and nil for every other kind.
func (e Element) Fields() []KeyField {
	if e.kind != KindKey {
		return nil
	}
	var fields []KeyField
	for text := e.text; text != ""; {
		var f KeyField
		f.Name, text = cutText(text)
		f.Value, text = cutValue(text)
		fields = append(fields, f)
	}
	return fields
}

// Value returns the value that an item selects, and the absent value for every other kind.
func (e Element) Value() value.Value {
	if e.kind != KindItem {
		return value.Value{}
	}
	v, _ := cutValue(e.text)
	return v
}

// Index returns the position that an index selects, and 0 for every other kind.
func (e Element) Index() int {
	if e.kind != KindIndex {
		return 0
	}
	return decodeIndex(e.text)
}

// compareElements returns -1 if a sorts before b, 1 if a sorts after b, and 0 exactly when a == b.
//
//  1. Kinds sort as fields, keys, items, indexes.
//  2. Fields sort bytewise by name.
//  3. Keys sort by the name, then the value, of the first field in which they differ. A key sorts
//     before the longer keys that begin with it.
//  4. Items sort by value, as in [value.Compare].
//  5. Indexes sort as numbers.
func compareElements(a, b Element) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	return strings.Compare(a.text, b.text)
}
