package structs

import (
	"reflect"
	"unsafe"
)

// memory is the place of a Go value. It is read and written as a type with the layout of the
// value's own type. The plan of that type gives the layout, see [plan].
//
// Why not a reflect.Value: it checks every step, and these checks would be most of the cost of
// converting a struct.
type memory struct {
	ptr         unsafe.Pointer // not nil
	addressable bool           // no temporary copy: methods of the address may be called
}

// memoryOf returns the memory of the target of pointer, which must not be nil.
func memoryOf(pointer reflect.Value) memory { return memory{pointer.UnsafePointer(), true} }

// copyOf returns the memory of the target of pointer, a copy that only the caller has.
func copyOf(pointer reflect.Value) memory { return memory{pointer.UnsafePointer(), false} }

// reflect returns the value, which is of type t. It can be set.
func (m memory) reflect(t reflect.Type) reflect.Value { return reflect.NewAt(t, m.ptr).Elem() }

// address returns the address of the value, which is of type t, as a pointer to t.
func (m memory) address(t reflect.Type) any { return reflect.NewAt(t, m.ptr).Interface() }

// after returns the memory at offset bytes from the start of m, inside the same value: a field, or
// an element of an array.
func (m memory) after(offset uintptr) memory { return memory{unsafe.Add(m.ptr, offset), m.addressable} }

// isNil reports whether the value, a pointer, map, slice or interface, is nil. Its first word is
// zero in this case.
func (m memory) isNil() bool { return read[unsafe.Pointer](m) == nil }

// target returns the memory that the value, a pointer that is not nil, points to.
func (m memory) target() memory { return memory{read[unsafe.Pointer](m), true} }

// elements returns the first element of the value, a slice, and the number of elements. An empty
// slice has no first element.
func (m memory) elements() (first memory, n int) {
	s := read[[]byte](m)
	return memory{unsafe.Pointer(unsafe.SliceData(s)), true}, len(s)
}

// lengthWord is the offset of the length in a string or slice, in bytes. A pointer is before it.
const lengthWord = uint8(unsafe.Sizeof(uintptr(0)))

// point sets the value, a pointer, to pointer.
func (m memory) point(pointer reflect.Value) { write(m, pointer.UnsafePointer()) }

// bytes returns the first size bytes of the value. The caller must not modify or keep them.
func (m memory) bytes(size uintptr) []byte { return unsafe.Slice((*byte)(m.ptr), size) }

// read returns the value as a T.
func read[T any](m memory) T { return *(*T)(m.ptr) }

// write sets the value to v.
func write[T any](m memory, v T) { *(*T)(m.ptr) = v }
