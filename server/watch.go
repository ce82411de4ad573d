package server

import (
	"context"
	"errors"
	"fmt"
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

// watch streams the events of a collection until the client goes, the time is over, the server ends, or
// the resource is not served any more as it was.
func (s *Server) watch(w http.ResponseWriter, q *rest.Request, rep wire.Representation) {
	ctx, cancel := context.WithCancel(q.HTTP.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	defer context.AfterFunc(endOf(ctx), cancel)()
	go func() {
		select {
		case <-q.Version.Gone:
			cancel()
		case <-ctx.Done():
		}
	}()
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
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return // the connection cannot stream, or is gone
	}
	var text []byte
	for events := range batches {
		text = text[:0]
		for _, e := range events {
			if text, err = printer.event(text, e); err != nil {
				s.log.Error("an event cannot be encoded", "path", q.HTTP.URL.Path, "error", err)
				return
			}
		}
		if send(w, control, text) != nil {
			return
		}
	}
}

// send sends text, and fails if the client does not take it in time. Between texts there is no limit.
func send(w http.ResponseWriter, control *http.ResponseController, text []byte) error {
	if err := control.SetWriteDeadline(time.Now().Add(slowWatcher)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	if err := control.SetWriteDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
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
