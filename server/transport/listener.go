package transport

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Connections with TLS whose writes are gathered. net/http does HTTP/2 over TLS only on a *tls.Conn itself, which writes record by record.
// So the listener ends TLS, and gives net/http connections that look as if they had none.

// Listener is a [net.Listener] of connections whose TLS handshake is over. It is safe for use by several goroutines.
//
// Each accepted connection shakes hands in a goroutine of its own, and is ready afterwards. So a client that is slow to shake hands keeps
// no other client waiting.
type Listener struct {
	net.Listener
	config   *tls.Config
	patience time.Duration

	ready  chan net.Conn
	failed chan error
	closed context.Context
	close  context.CancelFunc
	ended  context.Context // connections end with it
	end    context.CancelFunc
	conns  sync.WaitGroup // connections that send
}

// Listen returns a listener that accepts the connections of l and shakes hands with each, for patience at most, beside the others. It
// offers HTTP/2 and HTTP/1.1 unless config names protocols. Closing it closes l.
func Listen(l net.Listener, config *tls.Config, patience time.Duration) *Listener {
	if len(config.NextProtos) == 0 {
		config = config.Clone()
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	t := &Listener{Listener: l, config: config, patience: patience, ready: make(chan net.Conn), failed: make(chan error)}
	t.closed, t.close = context.WithCancel(context.Background())
	t.ended, t.end = context.WithCancel(context.Background())
	go t.acceptAll()
	return t
}

// Accept returns the next connection. If its client speaks HTTP/2, it is one that must be told so, as it looks like a connection without
// TLS: see [http.Protocols.SetUnencryptedHTTP2] and, for what TLS knows of the client, [State]. Every other one is a *tls.Conn, also if its
// handshake failed: it says so again to whom it is given, for net/http has answers to that.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		if l.closed.Err() != nil {
			_ = c.Close() // no caller has this connection
			return nil, net.ErrClosed
		}
		return c, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener, and handshakes under way. Connections that were accepted stay.
func (l *Listener) Close() error {
	l.close()
	return l.Listener.Close()
}

// End closes the connections of HTTP/2 that are open still, and waits until what was written to them is sent, or cannot be: see conn.Close.
// The listener must be closed.
func (l *Listener) End() {
	l.end()
	l.conns.Wait()
}

// acceptAll accepts connections until the listener is closed. An error is told before the next try.
//
// It runs in a goroutine of its own.
func (l *Listener) acceptAll() {
	for {
		c, err := l.Listener.Accept()
		if err == nil {
			go l.shake(c)
			continue
		}
		select {
		case l.failed <- err:
		case <-l.closed.Done():
			return
		}
	}
}

// shake makes a connection ready.
//
// A failed handshake is handed on as well: see Accept.
func (l *Listener) shake(c net.Conn) {
	gathered := &gatherer{Conn: c}
	secure := tls.Server(gathered, l.config)
	ctx, cancel := context.WithTimeout(l.closed, l.patience)
	err := secure.HandshakeContext(ctx)
	cancel()
	var out net.Conn = secure
	if state := secure.ConnectionState(); err == nil && state.NegotiatedProtocol == "h2" {
		out = newConn(secure, gathered, state, l)
	}
	select {
	case l.ready <- out:
	case <-l.closed.Done():
		_ = out.Close() // no caller has this connection
	}
}
