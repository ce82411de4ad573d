package wire

import (
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// compressFrom is the largest size in bytes of a body that is sent uncompressed.
const compressFrom = 128 << 10

// TakesGzip reports whether a client accepts compressed responses. Like kube-apiserver, it requires the coding "gzip" itself and ignores
// qualities and wildcards.
func TakesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

// SetGzip sets the headers of a response with a compressed body.
func SetGzip(h http.Header) {
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
}

// Gzip returns text as one gzip member. A body may consist of several members. The deflated text is flushed before the trailer, so a reader
// gets all of it without waiting for the next member.
func Gzip(text []byte) []byte {
	m := member{text: append([]byte(nil), memberBegin...)}
	m.add(Deflate(text))
	m.end()
	return m.text
}

// Part is compressed text without references to earlier text. A gzip member can consist of several parts, and several members can share a
// part.
type Part struct {
	deflated []byte // blocks of RFC 1951, none of them the final one, padded to a whole byte
	length   uint32 // of the text, modulo 2³²
	sum      uint32 // CRC-32 of the text
	shift    uint32 // factor for the CRC-32 of the preceding text, x⁸ⁿ for n = length
}

// Len returns the size of the compressed text in bytes.
func (p Part) Len() int { return len(p.deflated) }

// Deflate returns text as a part.
func Deflate(text []byte) Part {
	d := deflaterPool.Get().(*deflater)
	defer deflaterPool.Put(d)
	d.out = d.out[:0]
	d.Reset(&d.out)
	_, err := d.Write(text)
	if err == nil {
		err = d.Flush()
	}
	if err != nil {
		panic(err) // writing to memory cannot fail
	}
	return Part{slices.Clone(d.out), uint32(len(text)), crc32.ChecksumIEEE(text), power(len(text))}
}

// deflater is a compressor with its output buffer.
type deflater struct {
	*flate.Writer
	out memory
}

// memory is an io.Writer that appends to itself.
type memory []byte

// Write appends p.
func (m *memory) Write(p []byte) (int, error) {
	*m = append(*m, p...)
	return len(p), nil
}

// deflaterPool holds idle compressors.
var deflaterPool = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // BestSpeed is a valid level
	}
	return &deflater{Writer: w}
}}

// member is a gzip member (RFC 1952) under construction.
type member struct {
	text        []byte // the part that is not sent yet
	length, sum uint32 // of the uncompressed text
}

// memberBegin is the header of a member without a file name or time. blocksEnd is the final block, which is empty.
const (
	memberBegin = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"
	blocksEnd   = "\x03\x00"
)

func (m *member) add(p Part) {
	m.text = append(m.text, p.deflated...)
	m.sum = product(m.sum, p.shift) ^ p.sum
	m.length += p.length
}

func (m *member) end() {
	m.text = append(m.text, blocksEnd...)
	m.text = binary.LittleEndian.AppendUint32(m.text, m.sum)
	m.text = binary.LittleEndian.AppendUint32(m.text, m.length)
}

// A CRC-32 is a polynomial over GF(2), modulo the polynomial of CRC-32. Its highest bit is the coefficient of 1, the next bit that of x,
// and so on. If B has n bytes, then crc(AB) = crc(A)·x⁸ⁿ + crc(B), where + is exclusive or.
//
// product returns a·b.

// product returns a·b.
func product(a, b uint32) uint32 {
	sum := uint32(0)
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			sum ^= b
		}
		overflow := -(b & 1)
		b = b>>1 ^ overflow&crc32.IEEE // b·x
	}
	return sum
}

// power returns x⁸ⁿ.
func power(n int) uint32 {
	result, square := uint32(1)<<31, uint32(1)<<(31-8) // 1 and x⁸
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = product(result, square)
		}
		square = product(square, square)
	}
	return result
}
