package server

import (
	"context"
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

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
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
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
		if _, err := w.Write(text); err != nil || flush() != nil {
			return
		}
	}
}

// printer prints events as the client wants them.
type printer struct {
	rep     wire.Representation
	newOf   func() any // makes an object of the Go type of a built-in kind
	table   wire.Table
	printed bool // a Table, so that the next ones need no columns
}

func (s *Server) newPrinter(q *rest.Request, rep wire.Representation) (*printer, error) {
	include, err := wire.ParseInclude(q.Query)
	if err != nil && rep.As == wire.AsTable {
		return nil, err
	}
	return &printer{rep: rep, newOf: q.Version.New, table: wire.Table{Of: rep.Of, Version: q.Version, Now: s.now(), Include: include}}, nil
}

// event appends an event.
func (p *printer) event(text []byte, e rest.Event) ([]byte, error) {
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
