package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// slowWatcher is how long a client may take to receive what it is sent at once. One that takes longer is ended, and can come back for the
// rest. While it is waited for, it holds up to a batch of events, and nobody else.
const slowWatcher = 30 * time.Second

// watch sends the events of a collection until the client goes, the time is over, the server ends, or the resource is not served
// any more as it was: as a stream, or in frames of a websocket if the client asks for one.
func (s *Server) watch(w http.ResponseWriter, q *rest.Request, rep wire.Representation) {
	ctx, cancel := context.WithCancel(q.HTTP.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	defer context.AfterFunc(servingOf(ctx).end, cancel)()
	s.watching.Add(1)
	defer s.watching.Add(-1)
	printer, err := s.newPrinter(q, rep)
	if err != nil {
		s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		return
	}
	batches, err := q.Watch(ctx, rep.Media == wire.JSON && rep.As == "")
	q.Warnings.Write(w.Header())
	if err != nil {
		s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		return
	}
	w.Header().Set("Content-Type", rep.StreamType())
	if asksForSocket(q.HTTP) {
		err := serveSocket(w, q.HTTP, rep, func(out *socket) {
			defer context.AfterFunc(out.gone, cancel)()
			s.tell(q, printer, batches, out)
		})
		if err != nil {
			s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		}
		return
	}
	w.WriteHeader(http.StatusOK)
	out := newStream(w)
	defer out.slow.Stop()
	if out.control.Flush() != nil {
		return // the connection cannot stream, or is gone
	}
	s.tell(q, printer, batches, out)
}

// outlet is where events go.
type outlet interface {
	// send sends the texts of events, each of which ends where ends says. It fails if the client does not take them in time.
	send(text []byte, ends []int) error
}

// tell sends batches of events until there are no more, or the client takes none.
func (s *Server) tell(q *rest.Request, p *printer, batches iter.Seq[[]rest.Event], out outlet) {
	for events := range batches {
		f := framesPool.Get().(*frames) // a watch that waits holds none
		err := f.print(p, events)
		if err != nil {
			s.log.Error("an event cannot be encoded", "path", q.HTTP.URL.Path, "error", err)
		} else {
			err = out.send(f.text, f.ends)
		}
		large := len(f.text) > largeBatch
		framesPool.Put(f)
		if err != nil {
			return
		}
		if !large { // of many events that are there already
			s.gather()
		}
	}
}

// frames are the texts of a batch of events.
type frames struct {
	text []byte
	ends []int // where each ends
}

var framesPool = sync.Pool{New: func() any { return &frames{} }}

// print makes the texts of events.
func (f *frames) print(p *printer, events []rest.Event) (err error) {
	f.text, f.ends = f.text[:0], f.ends[:0]
	for _, e := range events {
		if f.text, err = p.event(f.text, e); err != nil {
			return err
		}
		f.ends = append(f.ends, len(f.text))
	}
	return nil
}

// largeBatch is the length of a batch behind which it is not worth while to wait for more.
const largeBatch = 32 << 10

const (
	// gatherEach is what it costs about to tell one watcher of one event, most of which is the write to its connection, and gatherMost
	// how long an event may be held back at most.
	gatherEach = 100 * time.Microsecond
	gatherMost = 20 * time.Millisecond
)

// gather lets a watcher that was told of something wait as long as it takes to tell all others, so that what happens meanwhile goes
// to each in one piece: the more there are, the more it saves. With few watchers that is no time at all, and what comes after a pause
// is told at once.
func (s *Server) gather() {
	if wait := min(gatherMost, time.Duration(s.watching.Load())*gatherEach); wait >= time.Millisecond {
		time.Sleep(wait)
	}
}

// stream is the body of an answer: an outlet.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	slow    *time.Timer // calls giveUp; it runs while something is sent

	mu      sync.Mutex // guards sending
	sending bool
}

// newStream returns the stream of an answer. Its timer is to be stopped.
func newStream(w http.ResponseWriter) *stream {
	s := &stream{w: w, control: http.NewResponseController(w)}
	s.slow = time.AfterFunc(slowWatcher, s.giveUp)
	s.slow.Stop()
	return s
}

// giveUp ends the stream of a client that does not take what it is sent. A deadline is set only now that it is over: to set one costs
// more than to send an event. A connection without deadlines, as between goroutines of one process, waits.
func (s *stream) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sending { // otherwise there may be no stream any more
		_ = s.control.SetWriteDeadline(time.Now())
	}
}

func (s *stream) setSending(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending = is
}

// send sends text. Between texts there is no limit to the time.
func (s *stream) send(text []byte, _ []int) error {
	s.setSending(true)
	s.slow.Reset(slowWatcher)
	defer s.setSending(false)
	defer s.slow.Stop()
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}

// printer prints events as the client wants them.
type printer struct {
	rep     wire.Representation
	name    string     // of rep
	newOf   func() any // makes an object of the Go type of a built-in kind
	table   wire.Table
	printed bool // a Table, so that the next ones need no columns
}

func (s *Server) newPrinter(q *rest.Request, rep wire.Representation) (*printer, error) {
	include, err := wire.ParseInclude(q.Query)
	if err != nil && rep.As == wire.AsTable {
		return nil, err
	}
	return &printer{rep: rep, name: fmt.Sprint(rep), newOf: q.Version.New, table: wire.Table{Of: rep.Of, Version: q.Version, Now: s.now(), Include: include}}, nil
}

// event appends an event. What all watchers are told in the same words is encoded once for all of them.
func (p *printer) event(text []byte, e rest.Event) ([]byte, error) {
	if e.Text != nil {
		return wire.AppendTextEvent(text, e.Type, e.Text), nil
	}
	if e.Shared == nil || p.rep.As == wire.AsTable {
		return p.print(text, e)
	}
	line, err := e.Shared.Text(e.Type+p.name, func() ([]byte, error) { return p.print(nil, e) })
	return append(text, line...), err
}

func (p *printer) print(text []byte, e rest.Event) ([]byte, error) {
	object := e.Object
	switch {
	case e.Type == rest.Failed:
	case p.rep.As == wire.AsTable:
		m := wire.ListMeta{Version: api.Meta(object, "resourceVersion")}
		object = p.table.Document(m, []value.Value{object}, !p.printed)
		p.printed = true
	case p.rep.As == wire.AsPartial:
		object = wire.Partial(p.table.Of, object)
	}
	return p.rep.AppendEvent(text, e.Type, wire.Object{Value: object, New: p.newOf})
}
