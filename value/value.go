package value

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// The kinds, the accessors, and one constructor for each kind. unsafe.go has the layout of a Value
// in memory.

// Kind is the kind of a [Value].
type Kind uint8

// The kinds of values. KindInt and KindFloat are both JSON numbers. KindInt is for numbers that are
// written without fraction and exponent and fit an int64. KindAbsent, the kind of the zero Value,
// means that there is no value at all; it is distinct from KindNull.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindInt
	KindFloat
	KindString
	KindList
	KindObject
)

// String returns the kind's name in lower case, such as "object".
func (k Kind) String() string {
	return [...]string{"absent", "null", "bool", "int", "float", "string", "list", "object"}[k&7]
}

// Member is one named value of an object.
type Member struct {
	Name  string
	Value Value
}

// Null returns the JSON null.
func Null() Value { return Value{num: uint64(KindNull)} }

// Bool returns b as a JSON boolean.
func Bool(b bool) Value {
	if b {
		return Value{num: 1<<kindBits | uint64(KindBool)}
	}
	return Value{num: uint64(KindBool)}
}

// Int returns i as a JSON number.
func Int(i int64) Value { return Value{ptr: intTag(), num: uint64(i)} }

// Float returns f as a JSON number. It panics if f is infinite or NaN, which JSON cannot express.
func Float(f float64) Value {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		panic("value: Float of a number that JSON cannot express")
	}
	return Value{ptr: floatTag(), num: math.Float64bits(f)}
}

// String returns s as a JSON string. Bytes of s that are not UTF-8 are kept; [Value.AppendJSON]
// prints U+FFFD for them.
func String(s string) Value { return fromString(s) }

// List returns the list of items. An absent item becomes null. List keeps the slice: the caller
// must not use it later.
func List(items ...Value) Value {
	for i := range items {
		if items[i].IsAbsent() {
			items[i] = Null()
		}
	}
	return fromItems(items)
}

// Object returns the object of members. It drops members with absent values, sorts the others by
// name, and keeps the slice: the caller must not use it later. It panics if two members have the
// same name.
func Object(members ...Member) Value {
	members = slices.DeleteFunc(members, func(m Member) bool { return m.Value.IsAbsent() })
	if isAscending(members) {
		return fromMembers(members)
	}
	if dup, ok := sortMembers(members); !ok {
		panic("value: Object with two members named " + members[dup].Name)
	}
	return fromMembers(members)
}

// IsAbsent reports whether v is the zero Value: no value at all.
func (v Value) IsAbsent() bool { return v.ptr == nil && v.num == 0 }

// IsNull reports whether v is the JSON null.
func (v Value) IsNull() bool { return v.ptr == nil && v.num == uint64(KindNull) }

// Bool returns the boolean v, or false if v is no boolean.
func (v Value) Bool() bool { return v.ptr == nil && v.num == 1<<kindBits|uint64(KindBool) }

// Int returns the integer v, or 0 if v is not of KindInt.
func (v Value) Int() int64 {
	if v.ptr != intTag() {
		return 0
	}
	return int64(v.num)
}

// Float returns the number v, or 0 if v is no number. A number of KindInt is rounded to a float64.
func (v Value) Float() float64 {
	switch v.ptr {
	case floatTag():
		return math.Float64frombits(v.num)
	case intTag():
		return float64(int64(v.num))
	}
	return 0
}

// Str returns the string v, or "" if v is no string.
func (v Value) Str() string {
	if v.Kind() != KindString {
		return ""
	}
	return v.str()
}

// Len returns the number of members of an object or items of a list, or 0 for every other kind.
func (v Value) Len() int {
	if k := v.Kind(); k == KindList || k == KindObject {
		return v.len()
	}
	return 0
}

// Item returns item i of a list, counted from 0. The result is absent if v has no such item or is
// no list.
func (v Value) Item(i int) Value {
	if v.Kind() != KindList || uint(i) >= uint(v.len()) {
		return Value{}
	}
	return v.list()[i]
}

// Items yields the items of a list in order, and nothing for every other kind.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != KindList {
			return
		}
		for _, item := range v.items() {
			if !yield(item) {
				return
			}
		}
	}
}

// Member returns member i of an object, counted from 0 in name order. The result is the zero Member
// if v has no such member or is no object.
func (v Value) Member(i int) Member {
	if v.Kind() != KindObject || uint(i) >= uint(v.len()) {
		return Member{}
	}
	return v.object()[i]
}

// Members yields the members of an object in name order (bytewise), and nothing for every other
// kind.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != KindObject {
			return
		}
		for _, m := range v.members() {
			if !yield(m.Name, m.Value) {
				return
			}
		}
	}
}

// Get follows names from v, one member for each name, and returns the last value. Without names it
// returns v. If a member is missing, or its parent is no object, it returns the absent Value:
//
//	v.Get("spec")                          absent unless v is an object that has spec
//	v.Get("metadata", "labels", "app")     absent unless all three exist
//
// Cost for each name: linear in the members of a small object, logarithmic in the members of a
// large one. Get allocates nothing.
func (v Value) Get(names ...string) Value {
	for _, name := range names {
		v = v.get(name)
	}
	return v
}

// get is Get for one name.
func (v Value) get(name string) Value {
	if v.Kind() != KindObject {
		return Value{}
	}
	members := v.members()
	if len(members) > fewMembers {
		if i, found := search(members, name); found {
			return members[i].Value
		}
		return Value{}
	}
	for i := range members { // most names differ in length, so equality is faster than order
		if members[i].Name == name {
			return members[i].Value
		}
	}
	return Value{}
}

// fewMembers is the number of members up to which Get compares them one by one.
const fewMembers = 8

// search returns the index of name in members, which are sorted, and whether it is there. If it is
// not, the index is the place to insert it.
func search(members []Member, name string) (int, bool) {
	lo, hi := 0, len(members)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := strings.Compare(members[mid].Name, name); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// With returns the object v with the member called name set to member. If member is absent, the
// result lacks that member. A v that is no object counts as the empty object.
func (v Value) With(name string, member Value) Value {
	var old []Member
	if v.Kind() == KindObject {
		old = v.members()
	}
	i, found := search(old, name)
	rest := old[i:]
	if found {
		if rest[0].Value.Same(member) {
			return v
		}
		rest = rest[1:]
	} else if member.IsAbsent() && v.Kind() == KindObject {
		return v
	}
	out := make([]Member, 0, len(old)+1)
	out = append(out, old[:i]...)
	if !member.IsAbsent() {
		out = append(out, Member{Name: name, Value: member})
	}
	return fromMembers(append(out, rest...))
}

// Same reports in constant time whether v and w are the same piece of storage, or the same null,
// boolean or number. Values that are the same are Equal; Equal values need not be the same. Parts
// that a [Decoder] shares between two documents are the same, so a walk of both may skip them.
func (v Value) Same(w Value) bool { return v.ptr == w.ptr && v.num == w.num }

// String returns v as JSON text, for messages. The absent Value prints as "absent".
func (v Value) String() string {
	if v.IsAbsent() {
		return "absent"
	}
	return string(v.AppendJSON(nil))
}
