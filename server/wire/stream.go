package wire

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// Bodies that are written while they are made. The state of a stream follows from its first writes:
//
//	pending    up to compressFrom bytes are collected: the answer may still become an error, or get a Content-Length
//	begun      the header is sent, compressed or not; from then on text is sent as it comes
//	closed     the rest is sent
//
// A list that knows that it will be long calls Expect, and skips the first state.

// IsText reports whether rep is JSON without indentation, the form of stored texts.
func (rep Representation) IsText() bool { return rep.Media == JSON && !rep.Pretty }

// Stream writes a body of unknown length. Like [Write], it compresses a large body if the client accepts gzip. Stream sends nothing before
// the body is large or Close is called. Until then the caller can still answer with an error.
//
// Stream buffers only text that is not sent yet, however long the body is.
//
// It belongs to one goroutine. Buffers go back to their pool only if the connection has taken them.
type Stream struct {
	w       http.ResponseWriter
	r       *http.Request
	gzip    bool    // the client accepts gzip
	large   bool    // the body is known to be large
	pending *[]byte // text that is not sent yet; nil if there is none
	begun   bool
	zip     *member // nil while the body is not compressed

	indent   *indenter // nil for a body without indentation
	indented []byte    // output buffer of indent
}

// NewStream returns a stream for a response with status 200 in the representation rep.
func NewStream(w http.ResponseWriter, r *http.Request, rep Representation) *Stream {
	w.Header().Set("Content-Type", rep.ContentType())
	s := &Stream{w: w, r: r, gzip: TakesGzip(r)}
	if rep.Media == JSON && rep.Pretty {
		s.indent = &indenter{}
	}
	return s
}

// Begun reports whether the header is sent.
func (s *Stream) Begun() bool { return s.begun }

// MayCompress reports whether a large body may take parts that are compressed already. The client must accept gzip, and the body must not
// be indented.
func (s *Stream) MayCompress() bool { return s.gzip && s.indent == nil }

// Expect announces that the body will have at least n bytes. If that is large, the stream compresses and sends without buffering first.
func (s *Stream) Expect(n int) { s.large = s.large || n > compressFrom }

// Compresses reports whether the body will surely be compressed. The caller should then use Add for parts that are compressed already.
func (s *Stream) Compresses() bool { return s.MayCompress() && (s.large || s.begun) }

// Write adds text to the body. One large write costs less than several small ones.
//
// The text is copied or sent when it returns, so the caller may use its memory again, unless there was an error.
func (s *Stream) Write(text []byte) error {
	if s.indent != nil {
		s.indented = s.indent.append(s.indented[:0], text)
		text = s.indented
	}
	// A long first text need not be copied before it is sent.
	if !s.begun && (s.large || s.pending == nil && len(text) > compressFrom) {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.begun {
		return s.send(text)
	}
	if s.pending == nil {
		s.pending = newBuffer()
	}
	if *s.pending = append(*s.pending, text...); len(*s.pending) <= compressFrom {
		return nil
	}
	return s.begin()
}

// Add adds a compressed part. It may be called only if Compresses returns true.
func (s *Stream) Add(p Part) error {
	if !s.begun {
		if err := s.begin(); err != nil {
			return err
		}
	}
	s.zip.add(p)
	if len(s.zip.text) < zipChunk {
		return nil
	}
	return s.sendZipped()
}

// begin sends the header of a large body and the pending text.
//
// It has no Content-Length, so net/http sends the body in chunks.
func (s *Stream) begin() error {
	s.begun = true
	if s.gzip {
		SetGzip(s.w.Header())
		s.zip = &member{text: append(*newBuffer(), memberBegin...)}
	}
	s.w.WriteHeader(http.StatusOK)
	if s.pending == nil {
		return nil
	}
	return s.sendPending()
}

// sendPending sends the pending text and frees its buffer. After an error the buffer is not reused, because the connection may still read
// it.
func (s *Stream) sendPending() error {
	pending := s.pending
	s.pending = nil
	if err := s.send(*pending); err != nil {
		return err
	}
	freeBuffer(*pending)
	return nil
}

// send sends text, compressed as a part of its own if the body is.
func (s *Stream) send(text []byte) error {
	if s.zip != nil && len(text) > 0 {
		return s.Add(Deflate(text))
	}
	return s.toClient(text)
}

// toClient writes b to the response, unless the method is HEAD. After an error the connection may still read b.
func (s *Stream) toClient(b []byte) error {
	if s.r.Method == http.MethodHead || len(b) == 0 {
		return nil
	}
	_, err := s.w.Write(b)
	return err
}

// zipChunk is the number of compressed bytes that a stream collects before it sends them.
const zipChunk = 64 << 10

// sendZipped sends the collected bytes of the member.
func (s *Stream) sendZipped() error {
	if err := s.toClient(s.zip.text); err != nil {
		return err
	}
	s.zip.text = s.zip.text[:0]
	return nil
}

// Close sends the rest of the body.
//
// A body that stayed small is sent here, with its length and uncompressed.
func (s *Stream) Close() error {
	switch {
	case !s.begun:
		s.begun = true
		if s.pending == nil {
			s.pending = newBuffer()
		}
		s.w.Header().Set("Content-Length", strconv.Itoa(len(*s.pending)))
		s.w.WriteHeader(http.StatusOK)
		return s.sendPending()
	case s.zip == nil:
		return nil
	}
	s.zip.end()
	if err := s.sendZipped(); err != nil {
		return err
	}
	freeBuffer(s.zip.text)
	return nil
}

// bufferPool holds idle buffers for text that is not sent yet.
var bufferPool = sync.Pool{New: func() any { b := make([]byte, 0, 2*compressFrom); return &b }}

// newBuffer returns an empty buffer.
func newBuffer() *[]byte { return bufferPool.Get().(*[]byte) }

// freeBuffer returns b to the pool. The caller must not use b afterwards.
func freeBuffer(b []byte) {
	b = slab.Kept(b, 4*compressFrom)
	bufferPool.Put(&b)
}
