package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/deed-project/deed/value"
)

// Values as expressions see them. CEL works on interfaces of its own, and the libraries adapt maps and slices to them. The same is done here
// for value.Value, without maps and slices in between:
//
//	{a: 1, b: [x]}    object ── a ──> Int 1
//	                         ── b ──> list ── 0 ──> String x        each made when an expression asks for it
//
// Most expressions select members, take sizes and iterate over items. These operations work on the value itself. All other operations convert
// the value to the library's form.
//
// A comparison converts both operands, because the library's values with a schema or of Go types only know each other.

// Shape says how expressions see the values at one place of a document.
type Shape interface {
	// Library converts a value, with everything in it, to the form of the library.
	Library(value.Value) ref.Val
	// Member returns a member of an object, and whether expressions see it. If ok is false, the library has to look for it.
	Member(object value.Value, name string) (member ref.Val, found, ok bool)
	// Item returns the item of a list at an index.
	Item(list value.Value, i int) ref.Val
}

// NewObject returns an object as expressions see it. It belongs to one evaluation, and is not safe for concurrent use.
func NewObject(v value.Value, s Shape) ref.Val { return &object{part{v: v, shape: s}} }

// NewList returns a list as expressions see it. It belongs to one evaluation, and is not safe for concurrent use.
func NewList(v value.Value, s Shape) ref.Val { return &list{part{v: v, shape: s}} }

// NewValue returns a value as expressions without a schema see it. It belongs to one evaluation, and is not safe for concurrent use. v must
// not be absent.
func NewValue(v value.Value) ref.Val {
	switch v.Kind() {
	case value.KindObject:
		return NewObject(v, schemaless{})
	case value.KindList:
		return NewList(v, schemaless{})
	case value.KindString:
		return types.String(v.Str())
	case value.KindInt:
		return types.Int(v.Int())
	case value.KindFloat:
		return types.Double(v.Float())
	case value.KindBool:
		return types.Bool(v.Bool())
	default:
		return types.NullValue
	}
}

// schemaless is the shape of everything in a document without a schema.
type schemaless struct{}

// Library implements [Shape].
func (schemaless) Library(v value.Value) ref.Val {
	return types.DefaultTypeAdapter.NativeToValue(v.ToAny())
}

// Member implements [Shape].
func (schemaless) Member(object value.Value, name string) (member ref.Val, found, ok bool) {
	m := object.Get(name)
	if m.IsAbsent() {
		return nil, false, true
	}
	return NewValue(m), true, true
}

// Item implements [Shape].
func (schemaless) Item(list value.Value, i int) ref.Val { return NewValue(list.Item(i)) }

// converted is a value that can be converted to the library's form.
type converted interface{ library() ref.Val }

// asLibraryHas returns a value in the library's form. Its members and items get that form, too, when the library reads them.
func asLibraryHas(v ref.Val) ref.Val {
	switch v := v.(type) {
	case converted:
		return v.library()
	case traits.FieldTester: // a Go struct of the library
		return v.(ref.Val)
	case traits.Mapper:
		return libraryMap{v}
	case traits.Lister:
		return libraryList{v}
	}
	return v
}

// libraryMap is a map that an expression made, with its members in the library's form.
type libraryMap struct{ traits.Mapper }

// Find returns a member, and whether it exists.
func (m libraryMap) Find(key ref.Val) (ref.Val, bool) {
	v, found := m.Mapper.Find(key)
	return asLibraryHas(v), found
}

// Get returns a member, or an error.
func (m libraryMap) Get(key ref.Val) ref.Val { return asLibraryHas(m.Mapper.Get(key)) }

// libraryList is a list that an expression made, with its items in the library's form.
type libraryList struct{ traits.Lister }

// Get returns an item, or an error.
func (l libraryList) Get(index ref.Val) ref.Val { return asLibraryHas(l.Lister.Get(index)) }

// madeByLibrary returns a value that the library made of values in its form. It converts what it is compared with, and so do its members and
// items: on the left of a comparison, the library's values only know each other, too.
func madeByLibrary(v ref.Val) ref.Val {
	switch v := v.(type) {
	case traits.Lister:
		return madeList{v}
	case traits.Mapper:
		return madeMap{v}
	}
	return v
}

// madeMap is a map that the library made.
type madeMap struct{ traits.Mapper }

func (m madeMap) library() ref.Val { return m.Mapper }

// Equal compares the map with another value.
func (m madeMap) Equal(other ref.Val) ref.Val { return m.Mapper.Equal(asLibraryHas(other)) }

// Find returns a member, and whether it exists.
func (m madeMap) Find(key ref.Val) (ref.Val, bool) {
	v, found := m.Mapper.Find(key)
	return madeByLibrary(v), found
}

// Get returns a member, or an error.
func (m madeMap) Get(key ref.Val) ref.Val { return madeByLibrary(m.Mapper.Get(key)) }

// madeList is a list that the library made, such as the concatenation of two.
type madeList struct{ traits.Lister }

func (l madeList) library() ref.Val { return l.Lister }

// Equal compares the list with another value.
func (l madeList) Equal(other ref.Val) ref.Val { return l.Lister.Equal(asLibraryHas(other)) }

// Contains reports whether an item equals v.
func (l madeList) Contains(v ref.Val) ref.Val { return l.Lister.Contains(asLibraryHas(v)) }

// Add returns the concatenation with another list.
func (l madeList) Add(other ref.Val) ref.Val { return madeByLibrary(l.Lister.Add(asLibraryHas(other))) }

// Get returns an item, or an error.
func (l madeList) Get(index ref.Val) ref.Val { return madeByLibrary(l.Lister.Get(index)) }

// Iterator returns an iterator over the items.
func (l madeList) Iterator() traits.Iterator { return madeItems{l.Lister.Iterator()} }

// madeItems iterates over the items of a list that the library made.
type madeItems struct{ traits.Iterator }

// Next returns the next item.
func (i madeItems) Next() ref.Val { return madeByLibrary(i.Iterator.Next()) }

// part holds what objects and lists share: all of ref.Val except Type.
type part struct {
	v     value.Value
	shape Shape
	whole ref.Val // cache of library
}

// library returns the part in the library's form.
func (p *part) library() ref.Val {
	if p.whole == nil {
		p.whole = p.shape.Library(p.v)
	}
	return p.whole
}

// Size returns the number of members or items.
func (p *part) Size() ref.Val { return types.Int(p.v.Len()) }

// Equal compares the part with another value.
//
// It is the library's equality, by which the order of items may not matter, as for sets.
func (p *part) Equal(other ref.Val) ref.Val { return p.library().Equal(asLibraryHas(other)) }

// ConvertToType returns the part as a value of another type.
func (p *part) ConvertToType(t ref.Type) ref.Val { return p.library().ConvertToType(t) }

// ConvertToNative returns the part as a value of a Go type.
func (p *part) ConvertToNative(t reflect.Type) (any, error) { return p.library().ConvertToNative(t) }

// String returns the part as errors of the library print it.
func (p *part) String() string { return fmt.Sprint(p.library()) }

// Value returns the part as a Go map or slice.
func (p *part) Value() any { return p.library().Value() }

// object implements traits.Mapper for an object.
type object struct{ part }

// mapper returns the object in the library's form.
func (o *object) mapper() traits.Mapper { return o.library().(traits.Mapper) }

// Find returns the member with the name key, and whether expressions see such a member.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	if name, isName := key.(types.String); isName {
		if member, found, ok := o.shape.Member(o.v, string(name)); ok {
			return member, found
		}
	}
	return o.mapper().Find(key)
}

// Get returns the member with the name key, or an error.
func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains reports whether expressions see a member with the name key.
func (o *object) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Iterator returns an iterator over the names of members.
func (o *object) Iterator() traits.Iterator { return o.mapper().Iterator() }

// Type returns types.MapType.
func (o *object) Type() ref.Type { return types.MapType }

// list implements traits.Lister for a list.
type list struct{ part }

// lister returns the list in the library's form.
func (l *list) lister() traits.Lister { return l.library().(traits.Lister) }

// Get returns the item at an index, or an error.
//
// The library words the error of an index that is out of range or no integer.
func (l *list) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok || i < 0 || int(i) >= l.v.Len() {
		return l.lister().Get(index)
	}
	return l.shape.Item(l.v, int(i))
}

// Iterator returns an iterator over the items.
func (l *list) Iterator() traits.Iterator { return &items{list: l} }

// Type returns types.ListType.
func (l *list) Type() ref.Type { return types.ListType }

// Contains reports whether an item equals v.
func (l *list) Contains(v ref.Val) ref.Val { return l.lister().Contains(asLibraryHas(v)) }

// Add returns the concatenation with another list, as the list's type in the schema defines it.
func (l *list) Add(other ref.Val) ref.Val {
	if _, isTyped := l.shape.(*typed); isTyped {
		return l.concatenation(other)
	}
	return madeByLibrary(l.lister().Add(asLibraryHas(other)))
}

// items implements traits.Iterator for the items of a list.
type items struct {
	*list
	next int
}

// HasNext reports whether there is another item.
func (i *items) HasNext() ref.Val { return types.Bool(i.next < i.v.Len()) }

// Next returns the next item.
func (i *items) Next() ref.Val {
	i.next++
	return i.shape.Item(i.v, i.next-1)
}
