package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/transport"
)

// ends are both ends of a connection that a listener accepted.
type ends struct {
	here     net.Conn // as the listener gave it
	there    *tls.Conn
	wire     *counted // below here
	listener *transport.Listener
}

// counted counts the writes to a connection.
type counted struct {
	net.Conn
	writes atomic.Int64
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// once is a listener that accepts one connection.
type once struct {
	conns chan net.Conn
	ended context.Context
	end   context.CancelFunc
}

func (l once) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended.Done():
		return nil, net.ErrClosed
	}
}
func (l once) Close() error   { l.end(); return nil }
func (l once) Addr() net.Addr { return &net.TCPAddr{} }

// configs returns how a server and its clients speak TLS.
func configs(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	return s.TLS.Clone(), s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
}

// connect returns the ends of a connection without any buffer between them: to write is to wait until it is read.
func connect(t *testing.T, protocol string) ends {
	t.Helper()
	ours, theirs := configs(t)
	theirs.NextProtos, theirs.ServerName = []string{protocol}, "example.com"
	a, b := net.Pipe()
	wire := &counted{Conn: a}
	conns := make(chan net.Conn, 1)
	conns <- wire
	ended, end := context.WithCancel(t.Context())
	l := transport.Listen(once{conns, ended, end}, ours, time.Second)
	there := tls.Client(b, theirs)
	shaken := make(chan error, 1)
	go func() { shaken <- there.Handshake() }()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-shaken; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		here.Close()
		there.Close()
		l.Close()
		l.End()
	})
	return ends{here, there, wire, l}
}

// TestWrites writes pieces of all sizes while the other side reads at its own pace: it reads them whole and in order.
func TestWrites(t *testing.T) {
	e := connect(t, "h2")
	random := seeds.Rand(t)
	var sent bytes.Buffer
	go func() {
		for range 500 {
			piece := make([]byte, random.IntN(1<<random.IntN(16)+1))
			for i := range piece {
				piece[i] = byte(random.Uint32())
			}
			sent.Write(piece)
			if n, err := e.here.Write(piece); n != len(piece) || err != nil {
				t.Errorf("%d of %d bytes are written: %v", n, len(piece), err)
			}
			clear(piece) // it is the caller's again
		}
		e.here.Close()
	}()
	got, err := io.ReadAll(e.there)
	if err != nil {
		t.Fatal(err)
	}
	e.listener.Close()
	e.listener.End()
	if !bytes.Equal(got, sent.Bytes()) {
		t.Errorf("%d bytes were sent, and others received, %d", sent.Len(), len(got))
	}
}

// TestTogether writes three pieces while a first one is on its way: they are one write to the wire.
func TestTogether(t *testing.T) {
	e := connect(t, "h2")
	write := func(text string) {
		if _, err := e.here.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	before := e.wire.writes.Load()
	go e.here.Write([]byte("first")) // it is alone, and waits for its reader
	for e.wire.writes.Load() == before {
		time.Sleep(time.Millisecond)
	}
	write("second")
	write("third")
	write("fourth")
	got := make([]byte, len("firstsecondthirdfourth"))
	if _, err := io.ReadFull(e.there, got); err != nil || string(got) != "firstsecondthirdfourth" {
		t.Fatalf("got %q, %v", got, err)
	}
	if writes := e.wire.writes.Load() - before; writes != 2 {
		t.Errorf("four pieces took %d writes", writes)
	}
}

// TestReaderThatStops writes to somebody who reads nothing: who writes is made to wait before much is held, and a deadline or the end of
// the connection ends the wait.
func TestReaderThatStops(t *testing.T) {
	for name, end := range map[string]func(net.Conn) error{
		"closed":   net.Conn.Close,
		"deadline": func(c net.Conn) error { return c.SetWriteDeadline(time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			e := connect(t, "h2")
			var held atomic.Int64
			failed := make(chan error)
			go func() {
				piece := make([]byte, 10_000)
				for {
					n, err := e.here.Write(piece)
					if held.Add(int64(n)); err != nil {
						failed <- err
						return
					}
				}
			}()
			if _, err := io.ReadFull(e.there, make([]byte, 5_000)); err != nil {
				t.Fatal(err)
			}
			for last := int64(-1); last != held.Load(); {
				last = held.Load()
				time.Sleep(20 * time.Millisecond)
			}
			if n := held.Load(); n > 400_000 {
				t.Errorf("%d bytes are held for who does not read", n)
			}
			if err := end(e.here); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; err == nil {
				t.Error("written to nobody")
			}
			if name == "deadline" {
				e.here.Close()
			}
			if err := e.here.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("closed again: %v", err)
			}
			e.listener.Close()
			e.listener.End() // as it must not take for ever
		})
	}
}

// TestEnd ends a listener of which a connection is open that nobody closes.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := connect(t, "h2")
		e.listener.Close()
		go e.listener.End()
		if text, err := io.ReadAll(e.there); len(text) > 0 || err != nil {
			t.Errorf("read %q, %v", text, err)
		}
	})
}

// TestPause writes pieces with pauses: each is sent when Write returns.
func TestPause(t *testing.T) {
	e := connect(t, "h2")
	go io.Copy(io.Discard, e.there)
	for n := range 10 {
		time.Sleep(5 * time.Millisecond)
		before := e.wire.writes.Load()
		if _, err := e.here.Write([]byte("an event")); err != nil {
			t.Fatal(err)
		}
		if sent := e.wire.writes.Load() - before; sent != 1 {
			t.Errorf("piece %d took %d writes", n, sent)
		}
	}
}

// TestProtocols serves clients of HTTP/2 and HTTP/1.1, and such that speak neither, behind a listener: only for those of HTTP/2 the
// connection is one that gathers, and all get what net/http answers.
func TestProtocols(t *testing.T) {
	ours, theirs := configs(t)
	ours.NextProtos = nil
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secure := transport.Listen(l, ours, time.Second)
	var accepted net.Conn
	h := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Gathers", map[bool]string{true: "yes", false: "no"}[transport.State(accepted) != nil])
			io.WriteString(w, r.Proto)
		}),
		ConnState: func(c net.Conn, s http.ConnState) {
			if s == http.StateNew {
				accepted = c
			}
		},
		Protocols: new(http.Protocols),
		ErrorLog:  log.New(io.Discard, "", 0),
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(secure) }()
	get := func(url string, tr *http.Transport) string {
		defer tr.CloseIdleConnections()
		answer, err := (&http.Client{Transport: tr}).Get(url)
		if err != nil {
			return err.Error()
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err.Error()
		}
		return answer.Status + ", " + string(body) + ", " + answer.Header.Get("Gathers")
	}
	url := "https://" + l.Addr().String()
	for _, c := range []struct {
		name, url, want string
		transport       *http.Transport
	}{
		{"HTTP/2", url, "200 OK, HTTP/2.0, yes", &http.Transport{TLSClientConfig: theirs.Clone(), ForceAttemptHTTP2: true}},
		{"HTTP/1.1", url, "200 OK, HTTP/1.1, no", &http.Transport{TLSClientConfig: theirs.Clone()}},
		{"no TLS", strings.Replace(url, "https", "http", 1), "400 Bad Request, Client sent an HTTP request to an HTTPS server.\n, ", &http.Transport{}},
		{"no trust", url, "certificate signed by unknown authority", &http.Transport{TLSClientConfig: &tls.Config{ServerName: "example.com"}}},
	} {
		if got := get(c.url, c.transport); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	secure.End()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
	if _, err := secure.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepted after the end: %v", err)
	}
}

// TestSilence connects and says nothing: the handshake ends, and others are served meanwhile.
func TestSilence(t *testing.T) {
	ours, theirs := configs(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const patience = time.Second
	secure := transport.Listen(l, ours, patience)
	defer secure.Close()
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dialed := make(chan error, 1)
	go func() {
		c, err := tls.Dial("tcp", l.Addr().String(), theirs)
		if err == nil {
			defer c.Close()
		}
		dialed <- err
	}()
	seen := map[bool]int{}
	for range 2 {
		c, err := secure.Accept()
		if err != nil {
			t.Fatal(err)
		}
		seen[c.(interface{ ConnectionState() tls.ConnectionState }).ConnectionState().HandshakeComplete]++
		defer c.Close()
	}
	if err := <-dialed; err != nil {
		t.Error(err)
	}
	if seen[true] != 1 || seen[false] != 1 {
		t.Errorf("%d handshakes are complete, %d failed", seen[true], seen[false])
	}
}
