package server

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
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
	crowd := s.crowd(q.Version.Prefix)
	crowd.Add(1)
	defer crowd.Add(-1)
	printer, err := s.newPrinter(q, rep)
	if err != nil {
		s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		return
	}
	told, err := q.Watch(ctx, printer.toRest())
	q.Warnings.Write(w.Header())
	if err != nil {
		s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		return
	}
	w.Header().Set("Content-Type", rep.StreamType())
	if asksForSocket(q.HTTP) {
		err := serveSocket(w, q.HTTP, rep, func(out *socket) {
			defer context.AfterFunc(out.gone, cancel)()
			s.tell(q, told, out)
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
	s.tell(q, told, out)
}

// outlet is where events go.
type outlet interface {
	// send sends events. It fails if the client does not take them in time.
	send(rest.Told) error
}

// tell sends what a watch is told until there is no more, or the client takes none.
func (s *Server) tell(q *rest.Request, told iter.Seq2[rest.Told, error], out outlet) {
	for t, err := range told {
		if err != nil {
			s.log.Error("an event cannot be encoded", "path", q.HTTP.URL.Path, "error", err)
			return
		}
		if out.send(t) != nil {
			return
		}
		if !t.More {
			s.gather(q.Version.Prefix)
		}
	}
}

const (
	// gatherEach is what it costs about to tell one watcher something, server and client together, most of which is the write to its
	// connection, and gatherMost how long an event may be held back at most.
	gatherEach = 200 * time.Microsecond
	gatherMost = 50 * time.Millisecond
)

// crowd returns the number of watches that are about objects with a prefix.
func (s *Server) crowd(prefix string) *atomic.Int64 {
	n, _ := s.watching.LoadOrStore(prefix, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// gather lets a watcher that was told of something wait as long as it takes to tell all others, so that what happens meanwhile goes
// to each in one piece: the more there are, the more it saves. With few watchers that is no time at all, and what comes after a pause
// is told at once.
func (s *Server) gather(prefix string) {
	if wait := min(gatherMost, time.Duration(s.crowd(prefix).Load())*gatherEach); wait >= time.Millisecond {
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
func (s *stream) send(t rest.Told) error {
	s.setSending(true)
	s.slow.Reset(slowWatcher)
	defer s.setSending(false)
	defer s.slow.Stop()
	if _, err := s.w.Write(t.Text); err != nil {
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

// toRest returns the printer for those who do not know of representations.
func (p *printer) toRest() rest.Printer {
	r := rest.Printer{Name: p.name, Texts: p.rep.Media == wire.JSON && p.rep.As == "", Print: p.event}
	if p.rep.As == wire.AsTable {
		r.Name = "" // what it prints depends on what it printed
	}
	return r
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
