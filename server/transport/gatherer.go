package transport

import (
	"io"
	"net"
	"sync"

	"github.com/deed-project/deed/internal/slab"
)

// TLS turns a write into one record for each 16 KiB, and writes each by itself. Gathered records make one system call for all of them:
//
//	gather "..." 40 KiB   TLS: 3 records ---> gatherer keeps them ---> 1 write

// gatherer is the connection below TLS. While something is gathered it keeps records, so as to send them together.
//
// mu guards records. TLS may write from other goroutines than the one that gathers, for example an alert.
type gatherer struct {
	net.Conn

	mu      sync.Mutex
	records *[]byte // nil if nothing is gathered
}

// Write sends a record, or keeps it.
func (g *gatherer) Write(record []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.records == nil {
		return g.Conn.Write(record)
	}
	*g.records = append(*g.records, record...)
	return len(record), nil
}

// gather writes text to secure, whose records g gets, and sends these at once.
func (g *gatherer) gather(secure io.Writer, text []byte) error {
	g.begin()
	_, err := secure.Write(text)
	if sent := g.send(); err == nil {
		err = sent
	}
	return err
}

// begin keeps records from now on.
func (g *gatherer) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.records = newBuffer()
}

// send sends what was kept. Records that TLS writes by itself meanwhile, as to end the connection, wait for it.
//
// The lock is held while it writes, so that records keep their order.
func (g *gatherer) send() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.Conn.Write(*g.records)
	free(g.records)
	g.records = nil
	return err
}

// buffers holds idle buffers, all of them empty.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// newBuffer returns an empty buffer.
func newBuffer() *[]byte { return buffers.Get().(*[]byte) }

// free returns a buffer to the pool. The caller must not use it afterwards.
func free(b *[]byte) {
	*b = slab.Kept(*b, 2*maxPending)
	buffers.Put(b)
}
