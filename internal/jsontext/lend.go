package jsontext

import "unsafe"

// Lend returns b as a string without copying it. b must not change while the string, or a part of it, is in use.
func Lend(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
