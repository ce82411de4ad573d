package wire

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// Write answers with a document in the form of rep. The error is that of the connection, or of a document that the form cannot
// say, of which nothing is written then: see [EncodeError].
func Write(w http.ResponseWriter, r *http.Request, code int, rep Representation, document Document) error {
	buffer := bodies.Get().(*[]byte)
	body, err := rep.Append((*buffer)[:0], document)
	if err != nil {
		return &EncodeError{rep.Media, err}
	}
	if err := WriteBody(w, r, code, rep.ContentType(), body); err != nil {
		return err // of a body that may still be on its way
	}
	*buffer = slab.Kept(body, maxBody)
	bodies.Put(buffer)
	return nil
}

// bodies hold memory for bodies of answers, up to a size.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

const maxBody = 64 << 10

// WriteBody answers with a body, compressed if it is large and the client takes gzip. The error is that of the connection.
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

// EncodeError is a document that its representation cannot say.
type EncodeError struct {
	Media string
	Err   error
}

// Error returns the media type, and what is wrong with the document.
func (e *EncodeError) Error() string {
	return "the answer cannot be encoded as " + e.Media + ": " + e.Err.Error()
}

// Unwrap returns what is wrong with the document.
func (e *EncodeError) Unwrap() error { return e.Err }
