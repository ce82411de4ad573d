package value

import (
	"reflect"
	"unsafe"
)

// Value is one JSON value, or no value at all: the zero Value is absent, which is not null.
//
// A Value is immutable and safe for concurrent use. It shares memory with the values, strings and slices that it was made
// from. It cannot be compared with ==, which would compare storage: see [Value.Equal] and [Value.Same].
type Value struct {
	_ [0]func() // no ==

	// Why not `any`, or a struct with a field for each kind: an object's members are Values in a slice, and the cost of
	// every walk is the memory it reads. A union of two words keeps a member at 32 bytes. What the words hold:
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
	// An empty string, list or object has a nil ptr. This file is the only one of the module that imports unsafe.
	ptr unsafe.Pointer
	num uint64
}

// kindBits is the width of a Kind in num.
const kindBits = 3

// tags gives the two kinds of numbers, which need all 64 bits of num for themselves, a ptr that tells them apart.
var tags [2]byte

func intTag() unsafe.Pointer   { return unsafe.Pointer(&tags[0]) }
func floatTag() unsafe.Pointer { return unsafe.Pointer(&tags[1]) }

// Kind returns what v is.
func (v Value) Kind() Kind {
	switch v.ptr {
	case intTag():
		return KindInt
	case floatTag():
		return KindFloat
	}
	return Kind(v.num & (1<<kindBits - 1))
}

func pack(ptr unsafe.Pointer, n int, k Kind) Value {
	if n == 0 {
		ptr = nil
	}
	return Value{ptr: ptr, num: uint64(n)<<kindBits | uint64(k)}
}

func fromString(s string) Value {
	return pack(unsafe.Pointer(unsafe.StringData(s)), len(s), KindString)
}
func fromItems(s []Value) Value { return pack(unsafe.Pointer(unsafe.SliceData(s)), len(s), KindList) }
func fromMembers(s []Member) Value {
	return pack(unsafe.Pointer(unsafe.SliceData(s)), len(s), KindObject)
}

// len returns the length of a string, list or object; v must be one.
func (v Value) len() int { return int(v.num >> kindBits) }

// str returns the string that v, which must be of KindString, holds.
func (v Value) str() string { return unsafe.String((*byte)(v.ptr), v.len()) }

// items returns the items of a list, which nobody may modify. It panics when v is no list.
func (v Value) items() []Value {
	if v.Kind() != KindList {
		panic("value: not a list")
	}
	return unsafe.Slice((*Value)(v.ptr), v.len())
}

// members returns the members of an object, which nobody may modify. It panics when v is no object.
func (v Value) members() []Member {
	if v.Kind() != KindObject {
		panic("value: not an object")
	}
	return unsafe.Slice((*Member)(v.ptr), v.len())
}

// textOf returns b as a string without copying it; b must never change again.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// memory is where a Go value lies that is only read. What its methods read must be what lies there: plans know. It keeps the value
// alive.
type memory struct{ ptr unsafe.Pointer }

// memoryOf returns where v, which has an address, lies.
func memoryOf(v reflect.Value) memory { return memory{v.Addr().UnsafePointer()} }

// value returns what lies at m, a t, with its address.
func (m memory) value(t reflect.Type) reflect.Value { return reflect.NewAt(t, m.ptr).Elem() }

// field returns where the part of a struct or array lies that begins at offset, in bytes.
func (m memory) field(offset uintptr) memory { return memory{unsafe.Add(m.ptr, offset)} }

// target returns where the pointer at m points to.
func (m memory) target() memory { return memory{*(*unsafe.Pointer)(m.ptr)} }

// isNil reports whether the pointer or map at m, which are one word both, is nil.
func (m memory) isNil() bool { return m.target().ptr == nil }

// str returns the string at m.
func (m memory) str() string { return *(*string)(m.ptr) }

// slice returns where the elements of the slice at m, of whatever type, lie, and how many there are. first is nowhere when the slice
// is nil.
func (m memory) slice() (first memory, n int) {
	s := *(*[]byte)(m.ptr) // only the header is read: the length counts elements
	return memory{unsafe.Pointer(unsafe.SliceData(s))}, len(s)
}

// isNowhere reports whether m is the memory of nothing.
func (m memory) isNowhere() bool { return m.ptr == nil }

// boolean returns the bool at m.
func (m memory) boolean() bool { return *(*bool)(m.ptr) }

// integer returns the signed integer of kind k at m.
func (m memory) integer(k reflect.Kind) int64 {
	switch k {
	case reflect.Int8:
		return int64(*(*int8)(m.ptr))
	case reflect.Int16:
		return int64(*(*int16)(m.ptr))
	case reflect.Int32:
		return int64(*(*int32)(m.ptr))
	case reflect.Int64:
		return *(*int64)(m.ptr)
	}
	return int64(*(*int)(m.ptr))
}
