package api

import (
	"crypto/rand"
	"encoding/hex"
)

// NewUID returns a random UUID, version 4.
func NewUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails; see package crypto/rand
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:])
	return string(text[:])
}
