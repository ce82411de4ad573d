package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// slowWatcher is how long a client may take to receive what it is sent at once. One that takes longer is ended, and can come back for the
// rest. While it is waited for, it holds up to a batch of events, and nobody else.
const slowWatcher = 30 * time.Second

// watch answers a request for the events of a collection, as a stream or, if the client asks for one, in frames of a websocket. The stream
// begins here, and goes on in c.After. It ends when the client goes, when the timeout of the request has passed, when the server ends, or
// when the resource is replaced or no more served.
func (s *Server) watch(w http.ResponseWriter, q *rest.Request, c *request.Context, rep wire.Representation) {
	if asksForSocket(q.HTTP) {
		client, cancel := context.WithCancel(c.Client)
		defer cancel()
		if f := s.newFollowing(client, w, q, rep); f != nil {
			defer f.watch.Close()
			f.runInSocket(w, q, rep, cancel)
		}
		return
	}
	f := s.newFollowing(c.Client, w, q, rep)
	if f == nil {
		return
	}
	if f.compressed = f.watch.IsList() && wire.TakesGzip(q.HTTP); f.compressed {
		wire.SetGzip(w.Header())
	}
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() != nil {
		f.watch.Close()
		return // the connection cannot stream, or is gone
	}
	f.out = stream{streamed(w), &s.deadlines, f.compressed}
	c.After = f.finish
}

// streamed returns the http.ResponseWriter of net/http behind w: an idle watch holds nothing else.
func streamed(w http.ResponseWriter) http.ResponseWriter {
	if t, ok := w.(*response.Tracker); ok {
		return t.ResponseWriter
	}
	return w
}

// finish runs the watch, and closes it.
func (f *following) finish() {
	defer f.watch.Close()
	f.run()
}

// newFollowing returns the watch that a client asks for. It answers the request, and returns nil, if there is none.
func (s *Server) newFollowing(client context.Context, w http.ResponseWriter, q *rest.Request, rep wire.Representation) *following {
	printer, err := s.newPrinter(q, rep)
	if err != nil {
		s.out.Error(w, q.HTTP, err)
		return nil
	}
	watch, err := q.Watch(client, s.closing(client), printer.toRest())
	q.Warnings.Write(w.Header())
	if err != nil {
		s.out.Error(w, q.HTTP, err)
		return nil
	}
	w.Header().Set("Content-Type", rep.StreamType())
	return &following{server: s, watch: watch, method: q.HTTP.Method, path: q.HTTP.URL.Path}
}

// runInSocket is run in frames of a websocket. cancel is called when the client closes it.
func (f *following) runInSocket(w http.ResponseWriter, q *rest.Request, rep wire.Representation, cancel func()) {
	err := serveSocket(w, q.HTTP, rep, func(out *socket) {
		defer context.AfterFunc(out.gone, cancel)()
		f.out = out
		f.run()
	})
	if err != nil {
		f.server.out.Error(w, q.HTTP, err)
	}
}

// following is a watch whose answer has begun. It is all that is kept for it while it waits.
type following struct {
	server       *Server
	watch        *rest.Watch
	out          outlet
	method, path string
	compressed   bool
}

// run sends what the watch tells until there is no more, the client is gone, or it takes none.
//
// A watch waits here. So run is to be called as close to the beginning of the goroutine as can be, and needs little by itself: once garbage
// was collected twice, the stack of a goroutine is as small as what is called from there to here.
func (f *following) run() {
	for f.tell() {
		<-f.watch.More()
	}
}

// outlet is where events go.
type outlet interface {
	// send sends events. It fails if the client does not take them in time.
	send(rest.Told) error
}

// tell sends what there is to tell by now. It reports whether the watch goes on. A panic ends it, and the connection.
//
//go:noinline
func (f *following) tell() bool {
	defer f.recovered()
	on, err := f.watch.Tell(func(t rest.Told) bool { return f.out.send(t) == nil })
	if err != nil {
		f.server.log.Error("an event cannot be encoded", logs.Path(f.path), logs.Fault(err))
	}
	return on
}

func (f *following) recovered() {
	if v := recover(); v != nil {
		f.server.panics.Report(f.method, f.path, v)
		panic(http.ErrAbortHandler)
	}
}

// closing returns a context that ends when long-running requests of a connection are to end.
func (s *Server) closing(connection context.Context) context.Context {
	if l := request.ListenerOf(connection); l != nil {
		return l.Closing
	}
	return s.background.Context()
}

// stream is the body of an answer: an outlet.
type stream struct {
	http.ResponseWriter
	deadlines  *deadlines
	compressed bool // each text is a member of gzip
}

// send sends text. Between texts there is no limit to the time.
func (s stream) send(t rest.Told) error {
	text := t.Text
	if s.compressed {
		text = t.Made(wire.Gzip)
	}
	d := s.deadlines.begin(s.ResponseWriter)
	defer s.deadlines.end(d)
	if _, err := s.Write(text); err != nil {
		return err
	}
	return http.NewResponseController(s.ResponseWriter).Flush()
}

// deadline ends the stream of a client that does not take what it is sent. The deadline of the connection is set only when the time is
// over: to set one costs more than to send an event. A connection without deadlines, as between goroutines of one process, waits.
type deadline struct {
	timer *time.Timer // calls giveUp

	mu sync.Mutex
	w  http.ResponseWriter // nil while nothing is sent: then there may be no stream any more
}

// deadlines are those of a server that nobody uses. The zero deadlines are ready.
type deadlines struct{ sync.Pool }

// begin returns the deadline of something that is about to be sent.
func (unused *deadlines) begin(w http.ResponseWriter) *deadline {
	d, ok := unused.Get().(*deadline)
	if !ok {
		d = &deadline{}
		d.timer = time.AfterFunc(slowWatcher, d.giveUp)
	}
	d.set(w)
	d.timer.Reset(slowWatcher)
	return d
}

// end ends the time. A deadline that has passed is not used again: it would end the next stream.
func (unused *deadlines) end(d *deadline) {
	d.set(nil)
	if d.timer.Stop() {
		unused.Put(d)
	}
}

func (d *deadline) set(w http.ResponseWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w = w
}

func (d *deadline) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w != nil {
		_ = http.NewResponseController(d.w).SetWriteDeadline(time.Now())
	}
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

// errNoList ends a watch that asks for events as lists, without a word to the client, as there.
var errNoList = errors.New("events are told of objects, not of lists")

func (p *printer) print(text []byte, e rest.Event) ([]byte, error) {
	object := e.Object
	switch {
	case e.Type == rest.Failed:
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
