package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
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
	defer context.AfterFunc(endOf(ctx), cancel)()
	printer, err := s.newPrinter(q, rep)
	if err != nil {
		s.fail(w, q.HTTP, s.errorsOf(q.HTTP), err)
		return
	}
	batches, err := q.Watch(ctx)
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
	out := &stream{w, http.NewResponseController(w)}
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
	var text []byte
	var ends []int
	for events := range batches {
		text, ends = text[:0], ends[:0]
		var err error
		for _, e := range events {
			if text, err = p.event(text, e); err != nil {
				s.log.Error("an event cannot be encoded", "path", q.HTTP.URL.Path, "error", err)
				return
			}
			ends = append(ends, len(text))
		}
		if out.send(text, ends) != nil {
			return
		}
		if cap(text) > maxKept {
			text = nil // for an idle watch to hold
		}
	}
}

// maxKept is how much memory a watch keeps for the next events.
const maxKept = 4 << 10

// stream is the body of an answer: an outlet.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send sends text. Between texts there is no limit to the time.
func (s *stream) send(text []byte, _ []int) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(slowWatcher)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	if err := s.control.Flush(); err != nil {
		return err
	}
	if err := s.control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
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
