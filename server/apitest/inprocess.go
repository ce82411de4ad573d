package apitest

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// inProcess is an http.RoundTripper that calls a handler of the same process. Clients read the body of an answer while the handler writes
// it, so that watches stream.
type inProcess struct {
	handler http.Handler
	ctx     context.Context // done when the server ends
	cancel  context.CancelFunc
	wait    sync.WaitGroup // for requests in flight
}

func newInProcess(h http.Handler) *inProcess {
	p := &inProcess{handler: h}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// close cancels all requests and waits for their handlers.
func (p *inProcess) close() {
	p.cancel()
	p.wait.Wait()
}

// RoundTrip sends a request, and returns the answer once its header is written. For a request that is cancelled before, it returns the
// error of the context.
func (p *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	w := newStream(cancel)
	unserved := context.AfterFunc(p.ctx, func() { w.abandon(io.EOF) })
	unread := context.AfterFunc(r.Context(), func() { w.abandon(r.Context().Err()) })
	inner := r.Clone(ctx)
	inner.RequestURI, inner.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:0"
	if inner.Host == "" {
		inner.Host = r.URL.Host
	}
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	p.wait.Go(func() {
		defer cancel()
		defer unserved()
		defer unread()
		defer inner.Body.Close()
		defer w.finish()
		defer w.aborted()
		p.handler.ServeHTTP(w, inner)
	})
	<-w.begun // a handler whose request is cancelled ends, and so begins its answer
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(w.code), StatusCode: w.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: w, ContentLength: -1, Request: r,
	}, nil
}

// stream is an answer in flight: the handler's http.ResponseWriter and the client's io.ReadCloser.
type stream struct {
	header http.Header
	sent   http.Header // the header when the answer began
	code   int
	once   sync.Once
	begun  chan struct{}
	reader *io.PipeReader
	writer *io.PipeWriter
	cancel context.CancelFunc
}

func newStream(cancel context.CancelFunc) *stream {
	s := &stream{header: http.Header{}, begun: make(chan struct{}), cancel: cancel}
	s.reader, s.writer = io.Pipe()
	return s
}

// Header returns the header, which may change until the answer begins.
func (s *stream) Header() http.Header { return s.header }

// WriteHeader begins the answer.
func (s *stream) WriteHeader(code int) {
	s.once.Do(func() {
		s.code, s.sent = code, s.header.Clone()
		close(s.begun)
	})
}

// Write passes b to the client, and returns when the client has read it.
func (s *stream) Write(b []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.writer.Write(b)
}

// Flush begins the answer. Written text needs no flush, because the client has read it.
func (s *stream) Flush() { s.WriteHeader(http.StatusOK) }

// aborted cuts the answer off if the handler panicked with http.ErrAbortHandler.
func (s *stream) aborted() {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		s.WriteHeader(http.StatusOK)
		s.writer.CloseWithError(io.ErrUnexpectedEOF) // never fails; see io.PipeWriter
	default:
		panic(v)
	}
}

// abandon ends a request whose client is gone. Writes of the handler fail, and a client that still reads gets the error.
func (s *stream) abandon(why error) {
	s.cancel()
	s.writer.CloseWithError(why) // never fails; see io.PipeWriter
}

// finish ends the answer.
func (s *stream) finish() {
	s.WriteHeader(http.StatusOK)
	s.writer.Close() // never fails; see io.PipeWriter
}

// Read reads the text that the handler writes.
func (s *stream) Read(b []byte) (int, error) { return s.reader.Read(b) }

// Close makes writes of the handler fail.
func (s *stream) Close() error {
	s.cancel()
	return s.reader.Close()
}
