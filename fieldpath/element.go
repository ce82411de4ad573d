package fieldpath

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/slab"
	"github.com/deed-project/deed/value"
)

// Kind says what an [Element] selects by. The zero Kind is that of the zero Element.
type Kind uint8

// The kinds of elements, in the order in which they sort.
const (
	KindField Kind = iota + 1 // a member of an object, by its name
	KindKey                   // an item of a keyed list, by the values of its key fields
	KindItem                  // an item of a set, by its value
	KindIndex                 // an item of a list, by its position
)

// Element is one step of a [Path]. Two elements are equal exactly when == says so. The zero Element
// is no step; it stands for every element in a [Pattern] and is invalid everywhere else.
type Element struct {
	kind Kind
	// text encodes what the element selects by so that, among elements of one kind, the order of
	// texts is the order of elements, and equal elements have equal texts:
	//
	//	Field  the name
	//	Key    for each field in name order: appendText(name), appendValue(value)
	//	Item   appendValue(value)
	//	Index  the number, big-endian, its sign bit flipped
	text string
}

// KeyField is one field of a key: its name and the value by which it selects.
type KeyField struct {
	Name  string
	Value value.Value
}

// Field returns the element that selects the member called name of an object.
func Field(name string) Element { return Element{KindField, name} }

// Key returns the element that selects the item of a keyed list that has these fields. Their order
// does not matter, unless two have the same name. Numbers select as numbers: 1 and 1.0 give the
// same element. The absent value counts as null.
func Key(fields ...KeyField) Element {
	var buf [128]byte
	return Element{KindKey, string(appendKey(buf[:0], sortedFields(fields)))}
}

// Item returns the element that selects the item of a set that equals v. The absent value counts as
// null.
func Item(v value.Value) Element {
	var buf [128]byte
	return Element{KindItem, string(appendValue(buf[:0], v))}
}

// Index returns the element that selects item i of a list, counted from 0.
func Index(i int) Element {
	var buf [8]byte
	return Element{KindIndex, string(appendIndex(buf[:0], i))}
}

// cutKey is [Key], its text cut from t. It does not retain fields.
func cutKey(t *slab.Text, fields []KeyField) Element {
	if !slices.IsSortedFunc(fields, compareFieldNames) {
		var room [8]KeyField // a copy, so that the caller's slice can stay on its stack
		sorted := append(room[:0], fields...)
		slices.SortStableFunc(sorted, compareFieldNames)
		fields = sorted
	}
	t.Scratch = appendKey(t.Scratch[:0], fields)
	return Element{KindKey, t.Cut(t.Scratch)}
}

// cutItem is [Item], its text cut from t.
func cutItem(t *slab.Text, v value.Value) Element {
	t.Scratch = appendValue(t.Scratch[:0], v)
	return Element{KindItem, t.Cut(t.Scratch)}
}

// sortedFields returns fields sorted by name, equal names in their order. When they are not sorted
// yet it sorts a copy.
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

// Kind returns what e selects by.
func (e Element) Kind() Kind { return e.kind }

// Name returns the name by which a field is selected, and "" for every other kind.
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

// Value returns the value by which an item of a set is selected, and the absent value for every
// other kind.
func (e Element) Value() value.Value {
	if e.kind != KindItem {
		return value.Value{}
	}
	v, _ := cutValue(e.text)
	return v
}

// Index returns the position by which an item of a list is selected, and 0 for every other kind.
func (e Element) Index() int {
	if e.kind != KindIndex {
		return 0
	}
	return decodeIndex(e.text)
}

// compareElements orders all elements: it returns -1, 0 or 1 as a sorts before, with or after b. It
// is 0 exactly when a == b.
//
//  1. Kinds sort as fields, keys, items, indexes.
//  2. Fields sort bytewise by name.
//  3. Keys sort by their first field that differs, by its name and then its value; a key that
//     another begins with sorts before it.
//  4. Items sort by value, as [value.Compare] has it.
//  5. Indexes sort as numbers.
func compareElements(a, b Element) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	return strings.Compare(a.text, b.text)
}
