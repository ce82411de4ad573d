package watch

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/websocket"

	"github.com/deed-project/deed/server/wire"
)

// Watches in websockets, for browsers. The client asks by the headers of an upgrade, and gets a frame for each event in place of a line.

// asksForSocket reports whether a request wants to upgrade to a websocket.
//
// Names are compared without regard to case. As in kube-apiserver, any value of Connection that contains the word will do.
func asksForSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		slices.ContainsFunc(r.Header.Values("Connection"), func(text string) bool { return strings.Contains(strings.ToLower(text), "upgrade") })
}

// serveSocket upgrades a request to a websocket, calls serve with it, and then closes it. A request without a valid Origin is a 403. The
// error says that the connection cannot become a websocket.
//
// The library checks the Origin and answers the upgrade itself. It takes the connection from hijacked, because the server's writer was
// asked for it already, to report a connection that cannot be hijacked as an ordinary error.
func serveSocket(w http.ResponseWriter, r *http.Request, rep wire.Representation, serve func(*socket)) error {
	connection, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	websocket.Handler(func(connection *websocket.Conn) {
		defer connection.Close()
		gone, cancel := context.WithCancel(context.Background())
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, connection) // until the client closes it; clients send no frames
		}()
		serve(&socket{connection, rep, gone})
	}).ServeHTTP(hijacked{w, connection, buffer}, r)
	return nil
}

// socket is an outlet that sends each event as a websocket frame. Frames are text frames if events are text.
//
// It belongs to the goroutine of the watch. Only gone is used by others.
type socket struct {
	connection *websocket.Conn
	rep        wire.Representation
	gone       context.Context // done when the client has closed the websocket
}

// send sends frames.
func (s *socket) send(c Chunk) (sent int, err error) {
	for text := range c.Events() {
		if err := s.connection.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
			return sent, err
		}
		var frame any = text
		switch s.rep.Media {
		// A string is sent as a text frame, and a byte slice as a binary one.
		case wire.JSON:
			frame = string(text)
		case wire.Protobuf:
			frame = text[wire.LengthOfFrame:] // the websocket itself delimits frames
		}
		if err := websocket.Message.Send(s.connection, frame); err != nil {
			return sent, err
		}
		sent += len(text)
	}
	return sent, nil
}

// hijacked is a response writer whose connection was hijacked.
type hijacked struct {
	http.ResponseWriter
	connection net.Conn
	buffer     *bufio.ReadWriter
}

// Hijack returns the connection.
func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.connection, h.buffer, nil }
