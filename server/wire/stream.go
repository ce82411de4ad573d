package wire

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// IsText reports whether rep is JSON as texts are stored: without line breaks.
func (rep Representation) IsText() bool { return rep.Media == JSON && !rep.Pretty }

// Stream writes a body whose length is not known, as Write does: compressed if it turns out to be large and the client takes that.
// Nothing is sent until there is so much of it, or until Close, so that a failure up to then can be the answer instead.
type Stream struct {
	w     http.ResponseWriter
	r     *http.Request
	held  []byte // what is not sent yet
	begun bool
	zip   *gzip.Writer // nil while the body is not compressed
}

// NewStream returns the stream of an answer with status 200 in the form of rep.
func NewStream(w http.ResponseWriter, r *http.Request, rep Representation) *Stream {
	w.Header().Set("Content-Type", rep.ContentType())
	return &Stream{w: w, r: r}
}

// Begun reports whether anything was sent.
func (s *Stream) Begun() bool { return s.begun }

// Write adds text to the body. What goes to the connection in one piece costs less than the same in several.
func (s *Stream) Write(text []byte) error {
	if !s.begun && len(s.held) == 0 && len(text) > compressFrom {
		s.begin()
	}
	if s.begun {
		return s.send(text)
	}
	if s.held == nil {
		s.held = (*holders.Get().(*[]byte))[:0]
	}
	if s.held = append(s.held, text...); len(s.held) <= compressFrom {
		return nil
	}
	s.begin()
	return s.sendHeld()
}

// holders hold memory for what is not sent yet.
var holders = sync.Pool{New: func() any { b := make([]byte, 0, 2*compressFrom); return &b }}

// sendHeld sends what was held, and gives its memory back.
func (s *Stream) sendHeld() error {
	err := s.send(s.held)
	if held := s.held; cap(held) > 0 && cap(held) <= 4*compressFrom {
		holders.Put(&held)
	}
	s.held = nil
	return err
}

// begin sends the header of a large body.
func (s *Stream) begin() {
	s.begun = true
	if TakesGzip(s.r) {
		SetGzip(s.w.Header())
		s.zip = newCompressor(s.w)
	}
	s.w.WriteHeader(http.StatusOK)
}

func (s *Stream) send(text []byte) error {
	if s.r.Method == http.MethodHead {
		return nil
	}
	if s.zip != nil {
		_, err := s.zip.Write(text)
		return err
	}
	_, err := s.w.Write(text)
	return err
}

// Close sends what is left.
func (s *Stream) Close() error {
	if !s.begun {
		s.begun = true
		s.w.Header().Set("Content-Length", strconv.Itoa(len(s.held)))
		s.w.WriteHeader(http.StatusOK)
		return s.sendHeld()
	}
	if s.zip == nil {
		return nil
	}
	if err := s.zip.Close(); err != nil {
		return err
	}
	compressors.Put(s.zip)
	s.zip = nil
	return nil
}
