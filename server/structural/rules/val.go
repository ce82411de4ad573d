package rules

import (
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/deed-project/deed/value"
)

// The types below adapt objects and lists for rules. Most rules select members, take sizes and iterate over items. These operations work on
// the value itself, and a part is adapted when a rule reaches it. All other operations convert the value to the library's form.
//
// A comparison converts both operands, because the library's values only know each other's Go types.

// converted is a value that can be converted to the library's form.
type converted interface{ library() ref.Val }

// asLibraryHas returns a value in the library's form.
func asLibraryHas(v ref.Val) ref.Val {
	if c, ok := v.(converted); ok {
		return c.library()
	}
	return v
}

// part holds what objects and lists share: all of ref.Val except Type.
//
// It belongs to one evaluation, so whole needs no lock.
type part struct {
	v     value.Value
	shape *shape
	whole ref.Val // cache of library
}

// library returns the part in the library's form.
func (p *part) library() ref.Val {
	if p.whole == nil {
		p.whole = common.UnstructuredToVal(p.v.ToAny(), p.shape)
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

// Value returns the part as a Go map or slice.
func (p *part) Value() any { return p.library().Value() }

// object implements traits.Mapper for an object.
type object struct{ part }

// mapper returns the object in the library's form.
func (o *object) mapper() traits.Mapper { return o.library().(traits.Mapper) }

// Find returns the member with the name key, and whether rules see such a member. In an object with properties, rules do not see null
// members.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	named := o.shape.properties != nil
	// An escaped name stands for another one, which the library works out.
	if !ok || named && isEscaped(string(name)) {
		return o.mapper().Find(key)
	}
	member, s := o.v.Get(string(name)), o.shape.member(string(name))
	if member.IsAbsent() || named && member.IsNull() || s == nil {
		return nil, false
	}
	return s.val(member), true
}

// Get returns the member with the name key, or an error.
func (o *object) Get(key ref.Val) ref.Val {
	if v, found := o.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

// Contains reports whether rules see a member with the name key.
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
	return l.shape.items.val(l.v.Item(int(i)))
}

// Iterator returns an iterator over the items.
func (l *list) Iterator() traits.Iterator { return &items{list: l} }

// Type returns types.ListType.
func (l *list) Type() ref.Type { return types.ListType }

// Contains reports whether an item equals v.
func (l *list) Contains(v ref.Val) ref.Val { return l.lister().Contains(asLibraryHas(v)) }

// Add returns the concatenation with another list, as the list's type in the schema defines it.
func (l *list) Add(other ref.Val) ref.Val { return l.lister().Add(asLibraryHas(other)) }

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
	return i.shape.items.val(i.v.Item(i.next - 1))
}
