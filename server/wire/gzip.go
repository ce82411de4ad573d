package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
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
	var out member
	z := newCompressor(&out)
	_, err := z.Write(text)
	if err = errors.Join(err, z.Flush(), z.Close()); err != nil {
		panic(err) // a member takes everything
	}
	compressors.Put(z)
	return out
}

// member is what a compressor writes to memory.
type member []byte

// Write appends p.
func (m *member) Write(p []byte) (int, error) {
	*m = append(*m, p...)
	return len(p), nil
}

// compressors are used by nobody.
var compressors = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is one of gzip's own
	}
	return w
}}

// newCompressor returns what compresses to w. It may be given back when it was closed without an error; otherwise what it wrote may still be
// on its way.
func newCompressor(w io.Writer) *gzip.Writer {
	z := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return z
}
