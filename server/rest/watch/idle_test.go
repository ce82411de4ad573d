package watch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/deed-project/deed/internal/testing/race"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestIdleWatches opens watches that nothing happens to, a hundred to a connection, and measures what each of them holds: the heap and the
// stacks once garbage was collected. It must be little more than for a handler of net/http that does nothing but wait.
func TestIdleWatches(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector needs memory of its own")
	}
	certificate, _, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2"}}
	const n = 1000
	wait := func(_ context.Context, l net.Listener) error {
		s := &http.Server{TLSConfig: config, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})}
		return s.ServeTLS(l, "", "")
	}
	memoryOf(t, n, servertest.Things, wait) // what Go keeps of goroutines is never given back, but used again
	floor := memoryOf(t, n, servertest.Things, wait)
	s := servertest.Widgets(t)
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web)
	version := servertest.List(t, s, "").Metadata.ResourceVersion
	watches := memoryOf(t, n, servertest.Things+"?watch=1&resourceVersion="+version, func(ctx context.Context, l net.Listener) error {
		return s.Serve(ctx, l, config)
	})
	t.Logf("a watch holds %d B, where a handler that waits holds %d B", watches, floor)
	if most := floor + 3500; watches > most {
		t.Errorf("a watch holds %d B, want %d B at most", watches, most)
	}
}

// memoryOf returns how many bytes are held for each of n requests for a path that are not answered to the end.
func memoryOf(t *testing.T, n int, path string, serve func(context.Context, net.Listener) error) int {
	t.Helper()
	goroutines := servertest.Goroutines(t)
	defer servertest.Await(t, func() bool { return runtime.NumGoroutine() <= goroutines })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer l.Close()
	go serve(ctx, l) // until the listener is closed
	var clients []*frameClient
	for range 10 {
		c := newFrameClient(t, l.Addr().String())
		defer c.connection.Close()
		c.get(t, path)
		clients = append(clients, c)
	}
	_, before := servertest.MemoryInUse(), servertest.MemoryInUse() // a stack shrinks by half each time
	for i := range n {
		clients[i%len(clients)].get(t, path)
	}
	_, after := servertest.MemoryInUse(), servertest.MemoryInUse()
	return int(after-before) / n
}

// frameClient is a client of HTTP/2 that holds nothing for a request.
type frameClient struct {
	connection net.Conn
	framer     *http2.Framer
	encoder    *hpack.Encoder
	header     bytes.Buffer
	begun      chan uint32 // streams of answers
	next       uint32
}

func newFrameClient(t *testing.T, address string) *frameClient {
	t.Helper()
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	c := &frameClient{connection: connection, framer: http2.NewFramer(connection, connection), begun: make(chan uint32, 1), next: 1}
	c.encoder = hpack.NewEncoder(&c.header)
	c.framer.SetReuseFrames()
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := c.framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	go c.read()
	return c
}

// read reads frames until the connection ends.
func (c *frameClient) read() {
	defer close(c.begun)
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		if frame, ok := frame.(*http2.HeadersFrame); ok {
			c.begun <- frame.StreamID
		}
	}
}

// get sends a request, and waits until the answer begins.
func (c *frameClient) get(t *testing.T, path string) {
	t.Helper()
	c.header.Reset()
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "127.0.0.1"}, {Name: ":path", Value: path},
		{Name: "user-agent", Value: "test/1"}, {Name: "accept-encoding", Value: "gzip"},
	} {
		if err := c.encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	h := http2.HeadersFrameParam{StreamID: c.next, BlockFragment: c.header.Bytes(), EndHeaders: true, EndStream: true}
	if err := c.framer.WriteHeaders(h); err != nil {
		t.Fatal(err)
	}
	if begun, ok := <-c.begun; !ok || begun != c.next {
		t.Fatalf("request %d is not answered", c.next)
	}
	c.next += 2
}
