package read_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestUnreadBodies sends bodies that the server refuses before it has read them, over HTTP/2. The answer arrives whole, and no reset of
// the stream comes behind it: a client that is still sending would throw the answer away.
func TestUnreadBodies(t *testing.T) {
	tokens := &auth.Tokens{}
	tokens.Add("secret", auth.User{Name: "joe"})
	s := servertest.New(t, server.Config{Authenticate: tokens.Authenticate})
	certificate, _, err := server.SelfSigned(time.Now(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l, &tls.Config{Certificates: []tls.Certificate{certificate}}) }()
	const configMaps = "/api/v1/namespaces/default/configmaps"
	for _, c := range []struct{ name, token, path, code string }{
		{"a wrong token", "guess", configMaps, "401"},
		{"an unknown kind", "secret", "/api/v1/namespaces/default/nothings", "404"},
		{"a wrong query", "secret", configMaps + "?timeout=soon", "400"},
	} {
		connection, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		if code := upload(t, connection, c.token, c.path); code != c.code {
			t.Errorf("%s: %s, want %s", c.name, code, c.code)
		}
		connection.Close()
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// upload creates an object with a body that comes in two pieces, the second after the server had time to answer. It returns the code of
// the answer, and fails if the stream is reset.
func upload(t *testing.T, connection net.Conn, token, path string) (code string) {
	t.Helper()
	var header bytes.Buffer
	encoder := hpack.NewEncoder(&header)
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: http.MethodPost}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "127.0.0.1"},
		{Name: ":path", Value: path}, {Name: "content-type", Value: "application/json"},
		{Name: "authorization", Value: "Bearer " + token},
	} {
		if err := encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	framer, piece := http2.NewFramer(connection, connection), make([]byte, 16<<10)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	// readTo reads frames until one is the last that is waited for.
	readTo := func(isLast func(http2.Frame) bool) {
		for {
			frame, err := framer.ReadFrame()
			if err != nil {
				t.Fatal(err)
			}
			switch frame := frame.(type) {
			case *http2.MetaHeadersFrame:
				code = frame.PseudoValue("status")
			case *http2.RSTStreamFrame:
				t.Errorf("the stream is reset: %v", frame.ErrCode)
				return
			}
			if isLast(frame) {
				return
			}
		}
	}
	isPong := func(f http2.Frame) bool { p, ok := f.(*http2.PingFrame); return ok && p.IsAck() }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := io.WriteString(connection, http2.ClientPreface)
	do(err)
	do(framer.WriteSettings())
	do(framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: header.Bytes(), EndHeaders: true}))
	do(framer.WriteData(1, false, piece))
	do(framer.WritePing(false, [8]byte{1}))
	readTo(isPong)
	do(framer.WriteData(1, true, piece))
	readTo(func(f http2.Frame) bool { d, ok := f.(*http2.DataFrame); return ok && d.StreamEnded() })
	do(framer.WritePing(false, [8]byte{2}))
	readTo(isPong)
	return code
}
