package transport

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

const (
	// maxPending is how much may wait to be sent before who writes has to wait: enough for a few full records in each system call.
	maxPending = 128 << 10
	// pause is for how long nothing is written before a piece is taken to come alone.
	pause = 2 * time.Millisecond
	// lastWords is how long a connection that was closed may take to send what was written before.
	lastWords = 500 * time.Millisecond
)

// conn is a TLS connection that sends beside those who write.
//
// A piece that comes after a pause is sent by who writes it. It mostly comes alone, as an event of a watch does, and to hand it on would
// cost more than to send it: the more so, the more connections there are whose memory has left the caches.
//
// Invariants, under mu: what is sent is sent by one goroutine at a time, while sending is true, in the order of the writes. Nothing is
// added to pending once err is not nil.
//
// The others hand over to sendAll:
//
//	Write "a"    after a pause: sent by the caller
//	Write "b"    sending is true: added to pending
//	Write "c"    added to pending
//	sendAll      sends "bc" in one piece, as soon as "a" is sent
//
// So a busy connection costs one system call for many writes, and no write waits for another one, up to maxPending.
type conn struct {
	net.Conn // the TLS connection, without what tells net/http that it is one
	wire     *gatherer
	state    tls.ConnectionState

	mu      sync.Mutex
	filled  sync.Cond // for sendAll: there is something to send and no send is running, or the connection is closed
	drained sync.Cond // for Write: less is pending, or err is set
	pending *[]byte   // what is to be sent next, nil if that is nothing
	sending bool
	closed  bool
	err     error     // why nothing can be written any more
	last    time.Time // when something was written
}

// newConn returns a connection over a TLS connection whose records go to wire. It ends with its listener, which waits for that.
//
// The goroutine that sends lives as long as the connection.
func newConn(secure *tls.Conn, wire *gatherer, state tls.ConnectionState, of *Listener) *conn {
	c := &conn{Conn: secure, wire: wire, state: state}
	c.filled.L, c.drained.L = &c.mu, &c.mu
	of.conns.Go(func() {
		defer context.AfterFunc(of.ended, func() { _ = c.Close() })()
		c.sendAll()
	})
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

// Write sends p, or takes it to be sent. It waits while too much is pending. An error may be about what earlier calls wrote: then nothing
// of p is sent.
//
// p is not kept: it is copied, or sent before Write returns.
func (c *conn) Write(p []byte) (int, error) {
	if alone, err := c.take(p); err != nil {
		return 0, err
	} else if !alone {
		return len(p), nil
	}
	err := c.wire.gather(c.Conn, p)
	c.sent(err)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// take adds p to what is pending, or reports that it comes alone: then the caller is to send it, and to call sent.
//
// It waits while maxPending is exceeded, so a client that does not read holds up its own writers alone.
func (c *conn) take(p []byte) (alone bool, err error) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending != nil && len(*c.pending) >= maxPending && c.err == nil {
		c.drained.Wait()
	}
	if c.err != nil {
		return false, c.err
	}
	alone = c.pending == nil && !c.sending && now.Sub(c.last) > pause
	c.last = now
	if alone {
		c.sending = true
		return true, nil
	}
	if c.pending == nil {
		c.pending = newBuffer()
	}
	*c.pending = append(*c.pending, p...)
	if !c.sending {
		c.filled.Signal()
	}
	return false, nil
}

// sent ends a send. After an error what is pending cannot be sent either.
func (c *conn) sent(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sending = false
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		c.pending = nil
		c.drained.Broadcast()
	}
	if c.pending != nil || c.closed {
		c.filled.Signal()
	}
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

// sendAll sends what is pending until the connection is closed, and ends it then.
//
// Closing TLS writes a last record, which a client that does not read would block. So a timer closes the connection below.
func (c *conn) sendAll() {
	for text := c.next(); text != nil; text = c.next() {
		err := c.wire.gather(c.Conn, *text)
		free(text)
		c.sent(err)
	}
	giveUp := time.AfterFunc(lastWords, func() { _ = c.wire.Close() })
	defer giveUp.Stop()
	_ = c.Conn.Close() // says so to the other side, which may be gone, or not read
}

// next waits until there is something to send and no other send is running, and returns it. It returns nil if nothing will come any more.
// The caller is to send it, and to call sent.
//
// It takes all that is pending at once, which lets waiting writers go on.
func (c *conn) next() *[]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.pending == nil || c.sending {
		if c.closed && !c.sending {
			return nil
		}
		c.filled.Wait()
	}
	text := c.pending
	c.pending, c.sending = nil, true
	c.drained.Broadcast()
	return text
}
