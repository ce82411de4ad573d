package structs

import (
	"reflect"
	"unsafe"
)

// memory is where a Go value lies. The type that it is read and written as must have the layout of
// the value's own: the plan of that tells, see [plan].
//
// Why not a reflect.Value: it is checked at every step, and most of what converting a struct costs
// would be those checks.
type memory struct {
	ptr         unsafe.Pointer // not nil
	addressable bool           // no copy that was made to be read: methods of its address may be called
}

// memoryOf returns where what pointer points to lies; pointer must not be nil.
func memoryOf(pointer reflect.Value) memory { return memory{pointer.UnsafePointer(), true} }

// copyOf returns where a copy of what pointer points to lies that only the caller has: pointer is
// the copy's address.
func copyOf(pointer reflect.Value) memory { return memory{pointer.UnsafePointer(), false} }

// reflect returns the value, which is of type t. It can be set.
func (m memory) reflect(t reflect.Type) reflect.Value { return reflect.NewAt(t, m.ptr).Elem() }

// address returns the address of the value, which is of type t, as a pointer to t.
func (m memory) address(t reflect.Type) any { return reflect.NewAt(t, m.ptr).Interface() }

// after returns what lies offset bytes behind the start of m, inside the same value: a field, or an
// element of an array.
func (m memory) after(offset uintptr) memory { return memory{unsafe.Add(m.ptr, offset), m.addressable} }

// isNil reports whether the value, a pointer, map, slice or interface, is nil: the first word of
// each tells.
func (m memory) isNil() bool { return read[unsafe.Pointer](m) == nil }

// target returns what the value, a pointer that is not nil, points to.
func (m memory) target() memory { return memory{read[unsafe.Pointer](m), true} }

// elements returns the first element of the value, a slice, and how many there are. Without any,
// there is no first one.
func (m memory) elements() (first memory, n int) {
	s := read[[]byte](m)
	return memory{unsafe.Pointer(unsafe.SliceData(s)), true}, len(s)
}

// lengthWord is where a string or slice has its length, in bytes: behind a pointer.
const lengthWord = uint8(unsafe.Sizeof(uintptr(0)))

// point makes the value, a pointer, point to what pointer points to.
func (m memory) point(pointer reflect.Value) { write(m, pointer.UnsafePointer()) }

// bytes returns the first size bytes of the value, which nobody may modify or keep.
func (m memory) bytes(size uintptr) []byte { return unsafe.Slice((*byte)(m.ptr), size) }

// read returns the value as a T.
func read[T any](m memory) T { return *(*T)(m.ptr) }

// write sets the value to v.
func write[T any](m memory, v T) { *(*T)(m.ptr) = v }
