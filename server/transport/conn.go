package transport

import (
	"crypto/tls"
	"net"
	"sync"
	"time"
)

const (
	// maxPending is how much may wait to be sent before who writes has to wait: enough for a few full records in each system call.
	maxPending = 128 << 10
	// lastWords is how long a connection that was closed may take to send what was written before.
	lastWords = 500 * time.Millisecond
)

// conn is a TLS connection that sends beside those who write.
//
// Invariants, under mu: sending is true from when something is pending until all of it is sent; then pending is nil. Nothing is added
// to pending once err is not nil.
type conn struct {
	net.Conn // the TLS connection, without what tells net/http that it is one
	wire     *gatherer
	state    tls.ConnectionState

	mu      sync.Mutex
	filled  sync.Cond // something is pending, or the connection is closed
	drained sync.Cond // less is pending, or err is set
	pending *[]byte   // what is not sent yet, nil if that is nothing
	sending bool
	closed  bool
	err     error // why nothing can be written any more
}

// newConn returns a connection over a TLS connection whose records go to wire. It is counted in open until all is sent and closed.
func newConn(secure *tls.Conn, wire *gatherer, state tls.ConnectionState, open *sync.WaitGroup) *conn {
	c := &conn{Conn: secure, wire: wire, state: state}
	c.filled.L, c.drained.L = &c.mu, &c.mu
	open.Go(c.sendAll)
	return c
}

// State returns what TLS knows of the other side of a connection that a [Listener] accepted, nil if that is a *tls.Conn, which says it
// itself.
func State(c net.Conn) *tls.ConnectionState {
	if c, ok := c.(*conn); ok {
		return &c.state
	}
	return nil
}

// Write takes p to be sent. It waits while too much is pending. An error may be about what earlier calls wrote: then nothing of p is
// sent.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending != nil && len(*c.pending) >= maxPending && c.err == nil {
		c.drained.Wait()
	}
	if c.err != nil {
		return 0, c.err
	}
	if c.pending == nil {
		c.pending = take()
	}
	*c.pending = append(*c.pending, p...)
	if !c.sending {
		c.sending = true
		c.filled.Signal()
	}
	return len(p), nil
}

// Close ends the connection once what was written is sent, or after lastWords. It does not wait for that.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	if c.err == nil {
		c.err = net.ErrClosed
	}
	c.filled.Signal()
	c.drained.Broadcast()
	return c.Conn.SetDeadline(time.Now().Add(lastWords))
}

// sendAll sends what is written until the connection is closed.
func (c *conn) sendAll() {
	for {
		text, ok := c.next()
		if !ok {
			giveUp := time.AfterFunc(lastWords, func() { _ = c.wire.Close() })
			_ = c.Conn.Close() // says so to the other side, which may be gone, or not read
			giveUp.Stop()
			return
		}
		err := c.wire.gather(c.Conn, *text)
		give(text)
		if err != nil {
			c.fail(err)
		}
	}
}

// next waits for something to send, and returns it; false if nothing will come any more.
func (c *conn) next() (*[]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending == nil {
		c.sending = false
		if c.closed {
			return nil, false
		}
		c.filled.Wait()
	}
	text := c.pending
	c.pending = nil
	c.drained.Broadcast()
	return text, true
}

// fail ends writing. What is pending cannot be sent.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	c.pending = nil
	c.drained.Broadcast()
}
