package watch

import (
	"net/http"
	"sync"
	"time"

	"github.com/deed-project/deed/server/wire"
)

// Writing chunks to clients that may be slow or gone. A write blocks while the buffers of the connection are full. A deadline ends it:
//
//	begin   the timer starts, w is set
//	Write   and Flush                      the timer may fire: then the write fails at once
//	end     w is nil, the timer stops      or has fired, and the deadline is thrown away

// sendTimeout is the time in which a client must receive the events that are sent together. A watch ends whose client takes longer; the
// client can resume it. Meanwhile the watch holds up to a batch of events, and no other watch waits.
const sendTimeout = 30 * time.Second

// outlet takes the events of a watch.
type outlet interface {
	// send sends events, and returns the number of bytes that the client takes. It fails if the client does not take them in time.
	send(Chunk) (int, error)
}

// stream is the body of an answer: an outlet.
//
// It belongs to one goroutine. Each chunk is flushed, since the next one may be minutes away.
type stream struct {
	http.ResponseWriter
	deadlines  *deadlines
	compressed *Watch // whose chunks are compressed, each as a member of gzip; nil if they are sent as they are
}

// send sends a chunk within sendTimeout. Between chunks the connection has no deadline.
func (s stream) send(c Chunk) (int, error) {
	text := c.Text
	if s.compressed != nil {
		text = s.compressed.Encoded(c, wire.Gzip)
	}
	d := s.deadlines.begin(s.ResponseWriter)
	defer s.deadlines.end(d)
	n, err := s.Write(text)
	if err != nil {
		return n, err
	}
	return n, http.NewResponseController(s.ResponseWriter).Flush()
}

// deadline ends the stream of a client that does not receive what it is sent. It sets the deadline of the connection only when the time has
// passed, because setting one costs more than sending an event. Connections between goroutines of one process have no deadlines, and wait.
type deadline struct {
	timer *time.Timer // calls expire

	// mu guards w. expire holds it, so that end waits until a deadline that fires is through with the connection.
	mu sync.Mutex
	w  http.ResponseWriter // nil while nothing is sent: the stream may have ended
}

// deadlines holds idle deadlines. The zero value is empty.
//
// A deadline is in the pool only if its timer is stopped, and w is nil.
type deadlines struct{ sync.Pool }

// begin returns a running deadline for w.
func (idle *deadlines) begin(w http.ResponseWriter) *deadline {
	d, ok := idle.Get().(*deadline)
	if !ok {
		d = &deadline{}
		d.timer = time.AfterFunc(sendTimeout, d.expire)
	}
	d.set(w)
	d.timer.Reset(sendTimeout)
	return d
}

// end stops a deadline. One that has passed is not used again, because it would end the next stream.
func (idle *deadlines) end(d *deadline) {
	d.set(nil)
	if d.timer.Stop() {
		idle.Put(d)
	}
}

// set sets the response writer that expire would end; nil for none.
func (d *deadline) set(w http.ResponseWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w = w
}

// expire fails the write that is in flight, if there is one. It runs in the goroutine of the timer.
func (d *deadline) expire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w != nil {
		_ = http.NewResponseController(d.w).SetWriteDeadline(time.Now())
	}
}
