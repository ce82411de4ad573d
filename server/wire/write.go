package wire

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// Write answers with a document in the representation rep. The error comes from the connection, or is an [EncodeError] if the
// representation cannot hold the document. In the latter case Write writes nothing.
//
// The document is encoded as a whole before anything is sent, so an error of encoding can still be answered.
func Write(w http.ResponseWriter, r *http.Request, code int, rep Representation, document Document) error {
	buffer := bodyPool.Get().(*[]byte)
	body, err := rep.Append((*buffer)[:0], document)
	if err != nil {
		return &EncodeError{rep.Media, err}
	}
	if err := WriteBody(w, r, code, rep.ContentType(), body); err != nil {
		return err // the connection may still read body, so that it is not reused
	}
	*buffer = slab.Kept(body, maxBody)
	bodyPool.Put(buffer)
	return nil
}

// bodyPool holds idle buffers for bodies, each of at most maxBody bytes.
var bodyPool = sync.Pool{New: func() any { return new([]byte) }}

// maxBody is the size of the largest buffer that is kept.
const maxBody = 64 << 10

// WriteBody answers with a body. It compresses a large body if the client accepts gzip. The error comes from the connection.
//
// A compressed body has no Content-Length. HEAD gets the same headers as GET.
func WriteBody(w http.ResponseWriter, r *http.Request, code int, contentType string, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", contentType)
	if len(body) > compressFrom && TakesGzip(r) {
		SetGzip(h)
		body = Gzip(body)
	} else {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(code)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// EncodeError reports that a representation cannot hold a document.
type EncodeError struct {
	Media string
	Err   error
}

// Error names the media type and the cause.
func (e *EncodeError) Error() string {
	return "the answer cannot be encoded as " + e.Media + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EncodeError) Unwrap() error { return e.Err }
