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

// compressFrom is the size up to which a body is sent as it is.
const compressFrom = 128 << 10

// TakesGzip reports whether a client takes compressed answers. It must ask for just that: like kube-apiserver, a server heeds neither
// qualities nor wildcards.
func TakesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.TrimSpace(coding) == "gzip" {
			return true
		}
	}
	return false
}

// SetGzip says in the header of an answer that its body is compressed.
func SetGzip(h http.Header) {
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
}

// Gzip returns text as a member of gzip. A body may consist of several. All of the text can be read before the end of the member is, so that
// nobody waits for a member behind it to come.
func Gzip(text []byte) []byte {
	m := member{text: append([]byte(nil), memberBegin...)}
	m.add(Deflate(text))
	m.end()
	return m.text
}

// Part is a compressed text that looks back at nothing before it, so that a member can be put together of parts, and a part be in many
// members.
type Part struct {
	deflated []byte // blocks of RFC 1951, up to a border of bytes, none of which is the last of a member
	length   uint32 // of the text, modulo 2³²
	sum      uint32 // of the text, as members have it
	shift    uint32 // what the sum of a text before it is multiplied by
}

// Len returns how long the compressed text is.
func (p Part) Len() int { return len(p.deflated) }

// Deflate returns text as a part.
func Deflate(text []byte) Part {
	d := deflaters.Get().(*deflater)
	defer deflaters.Put(d)
	d.out = d.out[:0]
	d.Reset(&d.out)
	_, err := d.Write(text)
	if err == nil {
		err = d.Flush()
	}
	if err != nil {
		panic(err) // memory takes everything
	}
	return Part{slices.Clone(d.out), uint32(len(text)), crc32.ChecksumIEEE(text), power(len(text))}
}

// deflater is a compressor with the memory that it writes to.
type deflater struct {
	*flate.Writer
	out memory
}

// memory is what a compressor wrote.
type memory []byte

// Write appends p.
func (m *memory) Write(p []byte) (int, error) {
	*m = append(*m, p...)
	return len(p), nil
}

// deflaters are used by nobody.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is one of its own
	}
	return &deflater{Writer: w}
}}

// member is a member of gzip, RFC 1952, on its way.
type member struct {
	text        []byte // what of it is not sent yet
	length, sum uint32 // of what it is made of
}

// memberBegin is how a member begins that says nothing of where its text is from, and blocksEnd the last of its blocks, which is empty.
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

// A sum is a polynomial over two elements, modulo that of CRC-32, whose highest bit is the coefficient of 1, the next that of x, and so
// on. If B has n bytes, then sum(AB) = sum(A)·x⁸ⁿ + sum(B), and + is the exclusive or.

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
