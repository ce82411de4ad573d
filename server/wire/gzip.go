package wire

import (
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Compression of answers, in pieces that can be shared. A gzip member is a header, deflated blocks, and a trailer with the CRC-32 and the
// length of the text. Blocks that refer to nothing before them can be put together in any order:
//
//	list 1   header  [own text] [part A] [part B] [own text]  trailer
//	list 2   header  [own text] [part A] [part C] [own text]  trailer
//
// A part is deflated once. Each answer only copies it, and computes the CRC of the whole from those of the parts, in constant time for each
// part; see product.

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

// TakesWeighedGzip is TakesGzip by the rules that kube-apiserver has for OpenAPI v2. Case does not matter, a quality of 0 refuses, and the last
// entry of several decides.
func TakesWeighedGzip(r *http.Request) (takes bool) {
	for entry := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, _ := strings.Cut(entry, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		quality, err := 1.0, error(nil)
		for param := range strings.SplitSeq(params, ";") {
			quality = 1 // the last parameter decides
			if text, is := strings.CutPrefix(strings.TrimSpace(param), "q="); is {
				quality, err = strconv.ParseFloat(text, 64)
			}
		}
		if err == nil {
			takes = quality > 0
		}
	}
	return takes
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
//
// It is immutable, and may be used by several goroutines.
type Part struct {
	deflated []byte // blocks of RFC 1951, none of them the final one, padded to a whole byte
	length   uint32 // of the text, modulo 2³²
	sum      uint32 // CRC-32 of the text
	shift    uint32 // factor for the CRC-32 of the preceding text, x⁸ⁿ for n = length
}

// Len returns the size of the compressed text in bytes.
func (p Part) Len() int { return len(p.deflated) }

// Deflate returns text as a part.
//
// Flush ends the last block and pads it to a whole byte. The compressor is reset before, so it refers to no earlier text. The cost is that
// of compressing at the fastest level.
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

// add appends a part. The CRC of the text so far is multiplied by the shift of the part, as if zeros followed it, and then the part's is
// added.
func (m *member) add(p Part) {
	m.text = append(m.text, p.deflated...)
	m.sum = product(m.sum, p.shift) ^ p.sum
	m.length += p.length
}

// end appends the final block and the trailer. Other parts cannot follow.
func (m *member) end() {
	m.text = append(m.text, blocksEnd...)
	m.text = binary.LittleEndian.AppendUint32(m.text, m.sum)
	m.text = binary.LittleEndian.AppendUint32(m.text, m.length)
}

// A CRC-32 is a polynomial over GF(2), modulo the polynomial of CRC-32. Its highest bit is the coefficient of 1, the next bit that of x,
// and so on. If B has n bytes, then crc(AB) = crc(A)·x⁸ⁿ + crc(B), where + is exclusive or.

// product returns a·b.
//
// It is the multiplication of polynomials: for each coefficient of a, from that of 1 on, it adds b, and multiplies b by x. The cost is at
// most 32 steps.
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
//
// It squares x⁸ again and again, and multiplies the squares that make up n. The cost is logarithmic in n.
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
