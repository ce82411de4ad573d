package server

import (
	"context"
	"net/http"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// watch streams the events of a collection, a line of JSON each, until the client goes, the time is over, the server ends, or
// the resource is not served any more as it was.
func (s *Server) watch(w http.ResponseWriter, q *rest.Request, rep wire.Representation) {
	ctx, cancel := context.WithCancel(q.HTTP.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	go func() {
		select {
		case <-q.Version.Gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	printer, err := s.newPrinter(q, rep)
	if err != nil {
		s.fail(w, q.HTTP, rep, err)
		return
	}
	batches, err := q.Watch(ctx)
	q.Warnings.Write(w.Header())
	if err != nil {
		s.fail(w, q.HTTP, rep, err)
		return
	}
	w.Header().Set("Content-Type", wire.JSON)
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	if flush() != nil {
		return // the connection cannot stream, or is gone
	}
	var text []byte
	for events := range batches {
		text = text[:0]
		for _, e := range events {
			text = printer.line(text, e)
		}
		if _, err := w.Write(text); err != nil || flush() != nil {
			return
		}
	}
}

// printer prints events as the client wants them.
type printer struct {
	as      string
	table   wire.Table
	printed bool // a Table, so that the next ones need no columns
}

func (s *Server) newPrinter(q *rest.Request, rep wire.Representation) (*printer, error) {
	include, err := wire.ParseInclude(q.Query)
	if err != nil && rep.As == wire.AsTable {
		return nil, err
	}
	return &printer{as: rep.As, table: wire.Table{Of: rep.Of, Version: q.Version, Now: s.now(), Include: include}}, nil
}

// line appends an event as a line of JSON.
func (p *printer) line(text []byte, e rest.Event) []byte {
	object := e.Object
	switch {
	case e.Type == rest.Failed:
	case p.as == wire.AsTable:
		m := wire.ListMeta{Version: api.Meta(object, "resourceVersion")}
		object = p.table.Document(m, []value.Value{object}, !p.printed)
		p.printed = true
	case p.as == wire.AsPartial:
		object = wire.Partial(p.table.Of, object)
	}
	text = append(text, `{"type":"`...)
	text = append(text, e.Type...)
	text = append(text, `","object":`...)
	text = object.AppendJSON(text)
	return append(text, "}\n"...)
}
