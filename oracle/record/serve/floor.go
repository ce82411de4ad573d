package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
)

// floor is a server that does nothing of what is asked: it reads the body, and answers with a text that it has. What it costs is what
// net/http costs, over TLS and HTTP/2, so that nobody who builds on that can cost less. It is an http.Handler.
type floor struct {
	mu      sync.Mutex
	watches map[chan []byte]bool
}

const (
	objectSize = 4600 // of an answer, as that of an object with its managed fields
	gone       = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"worker-0-0","group":"load.example.org",` +
		`"kind":"apps","uid":"00000000-0000-0000-0000-000000000000"}}`
	empty = `{"kind":"AppList","apiVersion":"load.example.org/v1","metadata":{"remainingItemCount":1,"resourceVersion":"1"},"items":[]}`
)

var object = `{"kind":"App","spec":"` + strings.Repeat("x", objectSize) + `"}`

// ServeHTTP implements http.Handler.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // nobody reads the answer
	}
	w.Header().Set("Content-Type", "application/json")
	text := object
	switch {
	case r.URL.Query().Has("watch"):
		f.watch(w, r)
		return
	case r.Method == http.MethodPatch:
		f.tell(body)
	case r.Method == http.MethodDelete:
		text = gone
	case strings.HasSuffix(r.URL.Path, "/apps"):
		text = empty
	}
	_, _ = io.WriteString(w, text)
}

// tell hands an event of the size of an object to all who watch. It begins with what was sent.
func (f *floor) tell(sent []byte) {
	event := fmt.Appendf(nil, `{"type":"MODIFIED","object":%s,"rest":%s}`+"\n", sent, object)
	f.mu.Lock()
	defer f.mu.Unlock()
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

// beFloor serves the floor in this process, on one core, and says where it is.
func beFloor(in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	s := httptest.NewUnstartedServer(&floor{watches: map[chan []byte]bool{}})
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
