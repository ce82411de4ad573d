package value

import "unsafe"

// Value is one JSON value, or no value at all: the zero Value is absent, which is not null.
//
// A Value is immutable and safe for concurrent use. It shares memory with the values, strings and
// slices that it was made from. The operator == does not compile, because it would compare storage:
// see [Value.Equal] and [Value.Same].
type Value struct {
	_ [0]func() // no ==

	// Why not `any`, or a struct with a field for each kind: an object's members are Values in a
	// slice, and the cost of every walk is the memory it reads. A union of two words keeps a member
	// at 32 bytes. The two words hold:
	//
	//	┌────────┬───────────────┬────────────────────┐
	//	│ kind   │ ptr           │ num                │
	//	├────────┼───────────────┼────────────────────┤
	//	│ absent │ nil           │ 0                  │
	//	│ null   │ nil           │ kind               │
	//	│ bool   │ nil           │ 0 or 1 <<3 | kind  │
	//	│ int    │ &tags[0]      │ the int64          │
	//	│ float  │ &tags[1]      │ the float64's bits │
	//	│ string │ first byte    │ length <<3 | kind  │
	//	│ list   │ first Value   │ length <<3 | kind  │
	//	│ object │ first Member  │ length <<3 | kind  │
	//	└────────┴───────────────┴────────────────────┘
	//
	// An empty string, list or object has a nil ptr. Apart from tests, only this file,
	// value/structs/memory.go and internal/jsontext/lend.go of the module import unsafe.
	ptr unsafe.Pointer
	num uint64
}

// kindBits is the width of a Kind in num.
const (
	kindBits = 3
	kindMask = 1<<kindBits - 1
)

// tags has one address for each of the two kinds of numbers. A number needs all 64 bits of num, so
// ptr holds its kind.
var tags [2]byte

// intTag and floatTag return the ptr of the two kinds of numbers.
func intTag() unsafe.Pointer   { return unsafe.Pointer(&tags[0]) }
func floatTag() unsafe.Pointer { return unsafe.Pointer(&tags[1]) }

// Kind returns the kind of v.
func (v Value) Kind() Kind {
	switch v.ptr {
	case intTag():
		return KindInt
	case floatTag():
		return KindFloat
	}
	return Kind(v.num & kindMask)
}

// isNumber reports whether v is of KindInt or KindFloat.
func (v Value) isNumber() bool { return uintptr(v.ptr)-uintptr(intTag()) < uintptr(len(tags)) }

// pack returns a value of kind k with n bytes, items or members from ptr on. If n is 0, pack sets
// ptr to nil, so that all empty values of a kind are the same.
func pack(ptr unsafe.Pointer, n int, k Kind) Value {
	if n == 0 {
		ptr = nil
	}
	return Value{ptr: ptr, num: uint64(n)<<kindBits | uint64(k)}
}

// fromString, fromItems and fromMembers return values that share s, which must not be modified.
func fromString(s string) Value {
	return pack(unsafe.Pointer(unsafe.StringData(s)), len(s), KindString)
}
func fromItems(s []Value) Value { return pack(unsafe.Pointer(unsafe.SliceData(s)), len(s), KindList) }
func fromMembers(s []Member) Value {
	return pack(unsafe.Pointer(unsafe.SliceData(s)), len(s), KindObject)
}

// len returns the length of a string, list or object; v must be one.
func (v Value) len() int { return int(v.num >> kindBits) }

// str returns the string v; v must be of KindString.
func (v Value) str() string { return unsafe.String((*byte)(v.ptr), v.len()) }

// isString reports whether v is the string s. It compares kind and length first, in one comparison.
func (v Value) isString(s string) bool {
	return v.num == uint64(len(s))<<kindBits|uint64(KindString) && !v.isNumber() && v.str() == s
}

// items returns the items of a list, which must not be modified. It panics for other kinds.
func (v Value) items() []Value {
	if v.Kind() != KindList {
		panic("value: not a list")
	}
	return unsafe.Slice((*Value)(v.ptr), v.len())
}

// members returns the members of an object, which must not be modified. It panics for other kinds.
func (v Value) members() []Member {
	if v.Kind() != KindObject {
		panic("value: not an object")
	}
	return unsafe.Slice((*Member)(v.ptr), v.len())
}

// list and object are items and members without the check of the kind.
func (v Value) list() []Value    { return unsafe.Slice((*Value)(v.ptr), v.len()) }
func (v Value) object() []Member { return unsafe.Slice((*Member)(v.ptr), v.len()) }
