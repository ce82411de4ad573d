package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
)

// floor is a server on net/http as it is: it reads the body of a request, and answers with bytes that it has. These are the bytes of a
// deed-apiserver's answer to such a request, see [bench.teach]. A server on net/http that does anything costs more. It is an http.Handler.
type floor struct {
	answer atomic.Pointer[answer]

	mu      sync.Mutex
	watches map[chan []byte]bool
}

// answer is the body of an answer, as it is sent, and the headers that say what it is.
type answer struct {
	body            []byte
	media, encoding string
}

// teaching is the path that takes, as a PUT, the answer to all requests that follow.
const teaching = "/answer"

const (
	objectSize = 4600 // of an event, as that of an object with its managed fields
	empty      = `{"kind":"AppList","apiVersion":"load.example.org/v1","metadata":{"remainingItemCount":1,"resourceVersion":"1"},"items":[]}`
)

var object = `{"kind":"App","spec":"` + strings.Repeat("x", objectSize) + `"}`

// ServeHTTP implements http.Handler.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // nobody reads the answer
	}
	switch {
	case r.URL.Query().Has("watch"):
		f.watch(w, r)
		return
	case r.URL.Path == teaching:
		f.answer.Store(&answer{body, r.Header.Get("Content-Type"), r.Header.Get("Content-Encoding")})
		return
	case r.Method == http.MethodPatch:
		f.tell(body)
	}
	a := f.answer.Load()
	w.Header().Set("Content-Type", a.media)
	if a.encoding != "" {
		w.Header().Set("Content-Encoding", a.encoding)
	}
	_, _ = w.Write(a.body)
}

// tell hands an event of the size of an object to all who watch. It begins with what was sent.
func (f *floor) tell(sent []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.watches) == 0 {
		return
	}
	event := fmt.Appendf(nil, `{"type":"MODIFIED","object":%s,"rest":%s}`+"\n", sent, object)
	for watch := range f.watches {
		watch <- event
	}
}

// watch writes events as they come.
func (f *floor) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan []byte, 1000)
	f.mu.Lock()
	f.watches[events] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.watches, events)
	}()
	control := http.NewResponseController(w)
	for err := control.Flush(); err == nil; err = control.Flush() {
		select {
		case event := <-events:
			_, _ = w.Write(event) // Flush says whether that failed
		case <-r.Context().Done():
			return
		}
	}
}

// beFloor serves the floor in this process, and says where it is.
func beFloor(in io.Reader, out io.Writer) error {
	f := &floor{watches: map[chan []byte]bool{}}
	f.answer.Store(&answer{[]byte(empty), "application/json", ""})
	s := httptest.NewUnstartedServer(f)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := json.NewEncoder(out).Encode(reach{s.URL, "none", ca, ""}); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
