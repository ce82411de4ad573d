package response

import (
	"bufio"
	"net"
	"net/http"
)

// Tracker is an http.ResponseWriter that keeps the status code and the size of the answer.
type Tracker struct {
	http.ResponseWriter
	Code int   // 0 until the answer begins
	Size int64 // the bytes of the body so far
	// Begun, if it is set, is told the status code when the answer begins.
	Begun func(code int)
}

// Track returns w as a Tracker: w itself if it is one.
func Track(w http.ResponseWriter) *Tracker {
	if t, ok := w.(*Tracker); ok {
		return t
	}
	return &Tracker{ResponseWriter: w}
}

// WriteHeader sets the status code.
func (w *Tracker) WriteHeader(code int) {
	w.begin(code)
	w.ResponseWriter.WriteHeader(code)
}

// begin notes the status code, unless the answer has begun.
func (w *Tracker) begin(code int) {
	if w.Code != 0 {
		return
	}
	if w.Code = code; w.Begun != nil {
		w.Begun(code)
	}
}

// Write writes to the client.
func (w *Tracker) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.Size += int64(n)
	return n, err
}

// Hijack takes over the connection, which then speaks another protocol.
func (w *Tracker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	connection, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.begin(http.StatusSwitchingProtocols)
	}
	return connection, buffer, err
}

// Unwrap returns what is written to, for http.ResponseController.
func (w *Tracker) Unwrap() http.ResponseWriter { return w.ResponseWriter }
