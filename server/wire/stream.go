package wire

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// IsText reports whether rep is JSON as texts are stored: without line breaks.
func (rep Representation) IsText() bool { return rep.Media == JSON && !rep.Pretty }

// Stream writes a body whose length is not known, as Write does: compressed if it turns out to be large and the client takes that.
// Nothing is sent until there is so much of it, or until Close, so that a failure up to then can be the answer instead.
//
// A stream holds only the text that its reader has not taken yet, however long the body is.
type Stream struct {
	w     http.ResponseWriter
	r     *http.Request
	takes bool    // gzip
	large bool    // the body is known to be so
	held  *[]byte // what is not sent yet, nil if that is nothing
	begun bool
	zip   *member // nil while the body is not compressed

	indent   *indenter // nil for a body without line breaks
	indented []byte    // what it made of a text
}

// NewStream returns the stream of an answer with status 200 in the form of rep.
func NewStream(w http.ResponseWriter, r *http.Request, rep Representation) *Stream {
	w.Header().Set("Content-Type", rep.ContentType())
	s := &Stream{w: w, r: r, takes: TakesGzip(r)}
	if rep.Media == JSON && rep.Pretty {
		s.indent = &indenter{}
	}
	return s
}

// Begun reports whether anything was sent.
func (s *Stream) Begun() bool { return s.begun }

// MayZip reports whether parts of the body may be compressed already when they are added, if it is large.
func (s *Stream) MayZip() bool { return s.takes && s.indent == nil }

// Expect says that the body will have so many bytes at least. Then it need not be held until it has.
func (s *Stream) Expect(n int) { s.large = s.large || n > compressFrom }

// Zips reports whether the body is sure to be compressed: then what is compressed already should be added as it is.
func (s *Stream) Zips() bool { return s.MayZip() && (s.large || s.begun) }

// Write adds text to the body. What goes to the connection in one piece costs less than the same in several.
func (s *Stream) Write(text []byte) error {
	if s.indent != nil {
		s.indented = s.indent.append(s.indented[:0], text)
		text = s.indented
	}
	if !s.begun && (s.large || s.held == nil && len(text) > compressFrom) {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if s.begun {
		return s.send(text)
	}
	if s.held == nil {
		s.held = newHolder()
	}
	if *s.held = append(*s.held, text...); len(*s.held) <= compressFrom {
		return nil
	}
	return s.begin()
}

// Add adds the text of a part to a body that Zips.
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

// begin sends the header of a large body, and what was held of it.
func (s *Stream) begin() error {
	s.begun = true
	if s.takes {
		SetGzip(s.w.Header())
		s.zip = &member{text: append(*newHolder(), memberBegin...)}
	}
	s.w.WriteHeader(http.StatusOK)
	if s.held == nil {
		return nil
	}
	return s.sendHeld()
}

// sendHeld sends what was held, and gives its memory back, unless it may still be on its way.
func (s *Stream) sendHeld() error {
	held := s.held
	s.held = nil
	if err := s.send(*held); err != nil {
		return err
	}
	freeHolder(*held)
	return nil
}

func (s *Stream) send(text []byte) error {
	if s.zip != nil && len(text) > 0 {
		return s.Add(Deflate(text))
	}
	return s.toClient(text)
}

// toClient sends what a GET gets. What could not be sent may still be on its way.
func (s *Stream) toClient(b []byte) error {
	if s.r.Method == http.MethodHead || len(b) == 0 {
		return nil
	}
	_, err := s.w.Write(b)
	return err
}

// zipChunk is how much compressed text is collected before it is sent.
const zipChunk = 64 << 10

// sendZipped sends what there is of the member.
func (s *Stream) sendZipped() error {
	if err := s.toClient(s.zip.text); err != nil {
		return err
	}
	s.zip.text = s.zip.text[:0]
	return nil
}

// Close sends what is left.
func (s *Stream) Close() error {
	switch {
	case !s.begun:
		s.begun = true
		if s.held == nil {
			s.held = newHolder()
		}
		s.w.Header().Set("Content-Length", strconv.Itoa(len(*s.held)))
		s.w.WriteHeader(http.StatusOK)
		return s.sendHeld()
	case s.zip == nil:
		return nil
	}
	s.zip.end()
	if err := s.sendZipped(); err != nil {
		return err
	}
	freeHolder(s.zip.text)
	return nil
}

// holders hold memory for what is not sent yet.
var holders = sync.Pool{New: func() any { b := make([]byte, 0, 2*compressFrom); return &b }}

// newHolder returns memory with nothing in it.
func newHolder() *[]byte { return holders.Get().(*[]byte) }

// freeHolder gives memory back that nobody uses any more.
func freeHolder(b []byte) {
	b = slab.Kept(b, 4*compressFrom)
	holders.Put(&b)
}
