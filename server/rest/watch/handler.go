package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Answering a request for a watch. The answer has three phases:
//
//	Serve    inside the filters: options, printer, the watch itself; errors are ordinary answers; headers are sent
//	c.After  outside of the filters: events, until the watch ends; see opened.run
//	Close    leaves the feed and the broadcaster
//
// A watch waits for minutes, and a server has thousands of them. So the filters return first, and the waiting goroutine refers to an opened
// alone: neither the request nor the wrappers of the response writer stay in memory.

// Handler answers requests for watches.
//
// Its fields are set before the first request. It is safe for concurrent use.
type Handler struct {
	Hub      *Hub
	Response response.Writer
	Log      logs.Logger
	Now      func() time.Time
	Ended    context.Context // ends with the server
	// Minor is the minor release of Kubernetes that the server emulates.
	Minor int
	// Panicked reports the panic of a watch whose answer has begun.
	Panicked func(method, path string, v any)
	// Counter returns the function that counts the events of a version that streams send, by the sizes of their texts.
	Counter func(*catalog.Version) func(size int)

	deadlines deadlines
}

// compressedSince is the minor release that compresses watches by default.
const compressedSince = 37

// Serve answers a request for the events of a collection, as a stream or in websocket frames. Serve begins the stream and continues it in
// c.After, outside of the filters. The stream ends when the client leaves, at the timeout of the request, or when the server ends. It also
// ends when the resource is replaced or no longer served.
func (h *Handler) Serve(w http.ResponseWriter, q *rest.Request, c *request.Context, rep wire.Representation) {
	// A websocket takes over the connection, so it is served within the filters. net/http does not end the context when a client closes
	// such a connection, so the watch gets another context.
	if asksForSocket(q.HTTP) {
		client, cancel := context.WithCancel(c.Client)
		defer cancel()
		if o := h.open(client, w, q, rep); o != nil {
			defer o.watch.Close()
			o.runInSocket(w, q, rep, cancel)
		}
		return
	}
	o := h.open(c.Client, w, q, rep)
	if o == nil {
		return
	}
	var compressed *Watch
	// Only a watch that begins with a list is compressed. Its later events are, too.
	if h.Minor >= compressedSince && o.watch.IsList() && wire.TakesGzip(q.HTTP) {
		compressed = o.watch
		wire.SetGzip(w.Header())
	}
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		o.watch.Close()
		return // the connection cannot stream, or is closed
	}
	o.out, o.count = stream{streamed(w), &h.deadlines, compressed}, h.Counter(q.Version)
	c.After = o.finish
}

// streamed returns the http.ResponseWriter of net/http below w, so that an idle watch does not hold the wrappers.
func streamed(w http.ResponseWriter) http.ResponseWriter {
	if t, ok := w.(*response.Tracker); ok {
		return t.ResponseWriter
	}
	return w
}

// open returns the watch of a request. If it fails, it answers the request and returns nil.
//
// Warnings are written also with an error. The content type is that of a stream, which differs for some representations.
func (h *Handler) open(client context.Context, w http.ResponseWriter, q *rest.Request, rep wire.Representation) *opened {
	printer, err := h.newPrinter(q, rep)
	if err != nil {
		h.Response.Error(w, q.HTTP, err)
		return nil
	}
	watch, err := h.Hub.Watch(q, client, h.closing(client), printer.toPrinter())
	q.Warnings.Write(w.Header())
	if err == nil {
		if err = rep.Streams(q.Offer()); err != nil {
			watch.Close()
		}
	}
	if err != nil {
		h.Response.Error(w, q.HTTP, err)
		return nil
	}
	w.Header().Set("Content-Type", rep.StreamType())
	return &opened{handler: h, watch: watch, method: q.HTTP.Method, path: q.HTTP.URL.Path}
}

// closing returns a context that ends when the watches of a connection must end.
//
// A listener can be closed while the server goes on, and then only its watches end.
func (h *Handler) closing(connection context.Context) context.Context {
	if l := request.ListenerOf(connection); l != nil {
		return l.Closing
	}
	return h.Ended
}

// opened is a watch whose answer has begun. It is everything that a waiting watch holds.
//
// It belongs to the goroutine that runs the watch.
type opened struct {
	handler      *Handler
	watch        *Watch
	out          outlet
	count        func(size int) // of a sent event; nil if events are not counted
	size         int64          // of what was sent
	method, path string
}

// finish runs the watch, and closes it. It returns the size of what was sent.
func (o *opened) finish() int64 {
	defer o.watch.Close()
	o.run()
	return o.size
}

// runInSocket runs the watch in frames of a websocket. It calls cancel when the client closes the websocket.
func (o *opened) runInSocket(w http.ResponseWriter, q *rest.Request, rep wire.Representation, cancel func()) {
	err := serveSocket(w, q.HTTP, rep, func(out *socket) {
		defer context.AfterFunc(out.gone, cancel)()
		o.out = out
		o.run()
	})
	if err != nil {
		o.handler.Response.Error(w, q.HTTP, err)
	}
}

// run sends the events of the watch until it ends.
//
// A watch waits in run. run is near the root of the goroutine and needs little stack, because the garbage collector can then shrink the
// stack of a waiting watch.
func (o *opened) run() {
	for o.send() {
		<-o.watch.More()
	}
}

// send sends the due events, and reports whether the watch goes on. A panic ends the watch and the connection.
//
// It must not be inlined into run, whose stack frame must stay small.
//
//go:noinline
func (o *opened) send() bool {
	defer o.recovered()
	on, err := o.watch.Send(o.sendChunk)
	if err != nil {
		o.handler.Log.Error("an event cannot be encoded", logs.Path(o.path), logs.Fault(err))
	}
	return on
}

// sendChunk sends and counts events, and reports whether the client took them.
func (o *opened) sendChunk(c Chunk) bool {
	n, err := o.out.send(c)
	o.size += int64(n)
	if err != nil || o.count == nil {
		return err == nil
	}
	for text := range c.Events() {
		o.count(len(text))
	}
	return true
}

// recovered reports a panic, and ends the connection. The answer has begun, so no error can be sent.
func (o *opened) recovered() {
	if v := recover(); v != nil {
		o.handler.Panicked(o.method, o.path, v)
		panic(http.ErrAbortHandler)
	}
}

// printer encodes events in the client's representation.
//
// It encodes for all watches of a feed, possibly at the same time. Only Tables change it, and their feeds have one watch each.
type printer struct {
	rep     wire.Representation
	name    string     // of rep
	newOf   func() any // makes an object of a built-in kind's Go type
	table   wire.Table
	printed bool // a Table with columns was sent; later ones omit them
}

// newPrinter returns the printer of a request. The error is a 400 for a wrong includeObject of a Table.
func (h *Handler) newPrinter(q *rest.Request, rep wire.Representation) (*printer, error) {
	include, err := wire.ParseInclude(q.Query)
	if err != nil && rep.As == wire.AsTable {
		return nil, err
	}
	return &printer{rep: rep, name: fmt.Sprint(rep), newOf: q.Version.New, table: wire.Table{Of: rep.Of, Version: q.Version, Now: h.Now(), Include: include}}, nil
}

// toPrinter returns p as a Printer.
func (p *printer) toPrinter() Printer {
	r := Printer{Name: p.name, Texts: p.rep.Media == wire.JSON && p.rep.As == "", Print: p.event}
	if p.rep.As == wire.AsTable {
		r.Name = "" // its events depend on earlier ones
	}
	return r
}

// event appends the text of an event. Watches with the same printer share the text.
//
// A text of e replaces the encoding. Otherwise, the text is cached with the event, by type and printer; see read.Event.Shared.
func (p *printer) event(text []byte, e read.Event) ([]byte, error) {
	if e.Text != nil {
		return wire.AppendTextEvent(text, e.Type, e.Text), nil
	}
	if e.Shared == nil || p.rep.As == wire.AsTable {
		return p.print(text, e)
	}
	line, err := e.Shared.Text(e.Type+p.name, func() ([]byte, error) { return p.print(nil, e) })
	return append(text, line...), err
}

// errNoList ends a watch that asks for events as lists, without a message to the client, as kube-apiserver does.
var errNoList = errors.New("events are about objects and not about lists")

// print appends an event that is encoded for this watch.
func (p *printer) print(text []byte, e read.Event) ([]byte, error) {
	object := e.Object
	switch {
	// A Status is sent as it is, whatever the client wants objects to be.
	case e.Type == read.Failed:
	case p.rep.As == wire.AsPartialList:
		return text, errNoList
	case p.rep.As == wire.AsTable:
		m := wire.ListMeta{Version: api.Meta(object, "resourceVersion")}
		object = p.table.Document(m, []value.Value{object}, !p.printed)
		p.printed = true
	case p.rep.As == wire.AsPartial:
		object = wire.Partial(p.table.Of, object)
	}
	return p.rep.AppendEvent(text, e.Type, wire.Object{Value: object, New: p.newOf})
}
